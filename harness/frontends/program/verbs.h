// The program's verbs. Each function adds a verb and returns what runs it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/frontends/program/command.h"

namespace kbench::program {

/// Exit codes of the program.
enum : int {
  kDone = 0,
  kFailed = 1,         ///< something did not pass, or kbench failed in an evaluation
  kUsage = 2,          ///< wrong usage: a flag, name, size, file or device; or output was lost
  kStopped = 3,        ///< a budget ran out; the run can be continued
  kInterrupted = 130,  ///< 128 + SIGINT, as in a shell
  kPipeClosed = 141,   ///< 128 + SIGPIPE: the reader of standard output has ended
};

/// A sub-command and its action, which returns the exit code.
struct Verb {
  Command command;
  std::function<int()> run;
};

Verb add_list(Command program);
Verb add_show(Command program);
Verb add_devices(Command program);
Verb add_run(Command program);
Verb add_new(Command program);
Verb add_task(Command program);
Verb add_diagnose(Command program);
Verb add_baseline(Command program);
Verb add_generate(Command program);
Verb add_model(Command program);
// The verbs of `kbench model`.
Verb add_model_prompt(Command model);
Verb add_model_extract(Command model);
Verb add_model_transcript(Command model);
Verb add_model_check(Command model);
Verb add_report(Command program);
Verb add_serve(Command program);
Verb add_help(Command program);
/// "'check' is no verb any more: write `kbench run CANDIDATE --check`"; empty for any other word.
std::string about_gone_verb(std::string_view word);
/// The main job, which has no verb. `benchmark_flags`: Google Benchmark's flags, removed from the
/// command line before it was parsed.
Verb add_main_job(Command program, std::vector<std::string> benchmark_flags);

}  // namespace kbench::program
