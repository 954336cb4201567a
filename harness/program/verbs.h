// The verbs of the program: each adds its sub-command and returns what runs it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace kbench::program {

/// Exit codes of the program.
enum : int {
  kDone = 0,
  kFailed = 1,   ///< what was asked about did not pass, or kbench failed in an evaluation
  kUsage = 2,    ///< the question is wrong: a flag, name, size, file or device; or output is lost
  kStopped = 3,  ///< a budget stopped a run, which can go on
  kInterrupted = 130,  ///< as a shell has it: 128 and SIGINT
  kPipeClosed = 141,   ///< likewise 128 and SIGPIPE: the reader of what is printed has gone
};

/// A sub-command and its action, which returns the exit code.
struct Verb {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

Verb add_list(CLI::App& program);
Verb add_show(CLI::App& program);
Verb add_devices(CLI::App& program);
Verb add_check(CLI::App& program);
Verb add_run(CLI::App& program);
Verb add_compare(CLI::App& program);
Verb add_new(CLI::App& program);
Verb add_audit(CLI::App& program);
Verb add_diagnose(CLI::App& program);
Verb add_repl(CLI::App& program);
Verb add_verify(CLI::App& program);
Verb add_reference(CLI::App& program);
Verb add_baseline(CLI::App& program);
Verb add_prompt(CLI::App& program);
Verb add_models(CLI::App& program);
Verb add_extract(CLI::App& program);
Verb add_import(CLI::App& program);
Verb add_generate(CLI::App& program);
Verb add_judge(CLI::App& program);
Verb add_transcript(CLI::App& program);
Verb add_report(CLI::App& program);
Verb add_serve(CLI::App& program);
Verb add_score(CLI::App& program);
Verb add_help(CLI::App& program);
/// The main job, which needs no verb. `benchmark_flags` are Google Benchmark's, taken from the
/// command line before the rest was parsed.
Verb add_main_job(CLI::App& program, std::vector<std::string> benchmark_flags);

}  // namespace kbench::program
