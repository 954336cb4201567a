// kbench: judges GPU kernels against an eager baseline. See --help.

#include <CLI/CLI.hpp>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "harness/client/device_list.h"
#include "harness/judge/judge.h"
#include "harness/program/help.h"
#include "harness/program/overview.h"
#include "harness/program/standard_streams.h"
#include "harness/program/terminal.h"
#include "harness/program/usage_errors.h"
#include "harness/program/verbs.h"
#include "harness/runner/runner.h"
#include "kbench/error.h"
#include "kbench/text.h"
#include "kbench/version.h"

namespace kbench::program {
namespace {

constexpr const char* kDescription =
    R"(kbench evaluates GPU kernels: it runs every candidate of the sets it is given on a Vulkan device,
checks every element of every timed output, times it against an eager baseline (one kernel an
operator) on the same device, and prints a leaderboard of fast_p: the share of tasks whose
candidate is correct and more than p times as fast.)";

constexpr const char* kFooter = R"(
Examples:
  kbench --fast-p 1.0                              the sets that ship, their tasks, the best device
  kbench --candidates my/ --task level1/19,2/*     your candidates on some tasks
  kbench --fast-p 0,0.5,1,2 --output results.jsonl resumable: a second run does what is missing
  kbench --shard 1/8 --output 1.jsonl              an eighth of it; kbench score *.jsonl joins them
  kbench show level1/19                            what a task asks for
  kbench new relu --language glsl                  a kernel to start from
  kbench run my/relu.yaml                          one candidate, in full
  kbench compare old.yaml new.yaml                 two of one task, against each other
  kbench help VERB                                 a page on each verb

Flags that begin with --benchmark_ (filter, repetitions, out, out_format, format, list_tests ...)
are Google Benchmark's own; each evaluation is one benchmark named TASK_NAME/SET.

Exit codes: 0 done, also when candidates failed; 1 what was asked to pass did not (run, check,
compare, verify), a task could not be timed (baseline), or an evaluation ended as harness_error, so
that the leaderboard is not the candidates' alone; 2 a wrong flag, name, size, file or device, or
output that could not be written, with one line on standard error; 3 a budget or a full disk stopped
a run, which the same command goes on with once there is room (generate); 130 Ctrl-C; 141 the
reader of what is printed has gone.

A page that is named docs/NAME.md lies in kbench's sources, and in share/doc/kbench of an
installation.)";

std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at; (at = text.find('\n')) != std::string::npos;) text.replace(at, 1, "; ");
  return text;
}

int complain(const std::string& message) {
  warn(shown(one_line(message), 2000));
  return kUsage;
}

/// Takes Google Benchmark's flags out of the arguments.
std::vector<std::string> take_benchmark_flags(std::vector<std::string>& arguments) {
  std::vector<std::string> taken, rest;
  for (auto& argument : arguments) {
    (argument.rfind("--benchmark_", 0) == 0 ? taken : rest).push_back(std::move(argument));
  }
  arguments = std::move(rest);
  return taken;
}

int run_program(std::vector<std::string> arguments) {
  CLI::App app(kDescription, "kbench");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("kbench ") + version());
  app.require_subcommand(0, 1);
  app.formatter(make_help_formatter());

  if (arguments.empty()) {
    say(overview());
    return kDone;
  }
  const std::vector<std::string> benchmark_flags = take_benchmark_flags(arguments);
  const Verb main_job = add_main_job(app, benchmark_flags);
  const Verb verbs[] = {add_list(app),       add_show(app),      add_devices(app),  add_check(app),
                        add_run(app),        add_audit(app),     add_diagnose(app), add_repl(app),
                        add_verify(app),     add_reference(app), add_baseline(app), add_prompt(app),
                        add_models(app),     add_extract(app),   add_generate(app), add_judge(app),
                        add_transcript(app), add_report(app),    add_serve(app),    add_score(app),
                        add_help(app),       add_import(app),    add_compare(app),  add_new(app)};
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& e) {  // --help, --version
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return complain(explain_parse_error(app, e));
  }
  if (const auto odd = find_odd_value(app)) return complain(*odd);
  for (const Verb& verb : verbs) {
    if (!verb.app->parsed()) continue;
    if (!benchmark_flags.empty()) {
      return complain("'" + benchmark_flags.front() + "' goes with the main job, not with '" +
                      verb.app->get_name() + "'; see kbench --help");
    }
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() == 0) continue;
      return complain("'" + option->get_name() + "' stands before the verb '" +
                      verb.app->get_name() + "'; put it behind, where the verb takes it");
    }
    return verb.run();
  }
  return main_job.run();
}

}  // namespace

int run(std::vector<std::string> arguments) {
  try {
    return run_program(std::move(arguments));
  } catch (const std::exception& e) {
    return complain(e.what());
  }
}

}  // namespace kbench::program

int main(int argc, char** argv) {
  if (!kbench::program::open_missing_descriptors()) return kbench::program::kUsage;
  // Before, and without, the command line's machinery: the processes that kbench starts.
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "judge-process") return kbench::judge::run_judge(argc - 2, argv + 2);
  if (role == "runner-process") return kbench::runner::run_runner(argc - 2, argv + 2);
  if (role == "list-devices-process") return kbench::client::run_device_lister();
  kbench::program::let_writes_fail();
  return kbench::program::finish_output(
      kbench::program::run(std::vector<std::string>(argv + 1, argv + argc)));
}
