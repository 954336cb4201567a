// kbench: judges GPU kernels against an eager baseline. See --help.

#include <exception>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/evaluate/client/device_list.h"
#include "harness/evaluate/sanitize/sanitize.h"
#include "harness/frontends/program/candidates.h"
#include "harness/frontends/program/command.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "harness/measure/judge/judge.h"
#include "harness/measure/runner/runner.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/plan.h"
#include "kbench/error.h"
#include "kbench/version.h"
#include "libkbench/base/files.h"
#include "libkbench/core/in_words.h"

namespace kbench::program {
namespace {

const Page kPage = {
    .summary = "A benchmark for machine-written GPU kernels",
    .description =
        "Evaluates GPU kernels: runs every candidate of the sets it is given on a Vulkan device, "
        "checks every element of every timed output, times it against an eager baseline (one "
        "kernel an operator) on the same device, and prints a leaderboard of fast_p: the share of "
        "tasks whose candidate is correct and more than p times as fast.",
    .examples =
        R"(  kbench --fast-p 1.0                              the sets that ship, their tasks, the best device
  kbench --candidates my/ --task level1/19,2/*     your candidates on some tasks
  kbench --fast-p 0,0.5,1,2 --output results.jsonl resumable: a second run does what is missing
  kbench --shard 1/8 --output 1.jsonl              an eighth of it; kbench report *.jsonl joins them
  kbench show level1/19                            what a task asks for
  kbench new relu --language glsl                  a kernel to start from
  kbench run my/relu.yaml                          one candidate, in full
  kbench run old.yaml new.yaml --compare           two of one task, against each other
  kbench help VERB                                 a page on each verb)",
    .notes = {"Flags that begin with --benchmark_ (filter, repetitions, out, out_format, format, "
              "list_tests ...) are Google Benchmark's own; each evaluation is one benchmark named "
              "TASK_NAME/SET.",
              "A page that is named docs/NAME.md lies in kbench's sources, and in share/doc/kbench "
              "of an installation."}};

const std::vector<ExitCode> kExitCodes = {
    {kDone, "done, also when candidates failed"},
    {kFailed,
     "what was asked to pass did not (run), or an evaluation ended as harness_error, so that the "
     "leaderboard is not the candidates' alone"},
    {kUsage,
     "a wrong flag, name, size, file or device, or output that could not be written, with one line "
     "on standard error"},
    {kStopped,
     "a budget or a full disk stopped a run, which the same command goes on with once there is "
     "room (generate)"},
    {kInterrupted, "Ctrl-C"},
    {kPipeClosed, "the reader of what is printed has gone"}};

std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at; (at = text.find('\n')) != std::string::npos;) text.replace(at, 1, "; ");
  return text;
}

int complain(const std::string& message) {
  warn(shown(one_line(message), 2000));
  return kUsage;
}

/// Each error of a file, with the line and a caret where the file can be read.
int complain(const Error& error) {
  for (const Error& each : error.all()) {
    complain(std::string(each.what()));
    if (each.location().column == 0) continue;
    try {
      const std::string text = read_file(each.location().file);
      std::fputs(pointed_line(text, each.location(), "").c_str(), stderr);
    } catch (const Error&) {  // its place says enough
    }
  }
  return kUsage;
}

std::string device_line() {
  try {
    vulkan::DeviceSnapshot device = vulkan::choose_device(client::list_snapshots(), "auto");
    vulkan::plan_device(device);
    return "on " + shown(device.name) + (device.software() ? ", a software device" : "");
  } catch (const Error& e) {
    return "on no device yet: " + shown(e.what());
  }
}

std::string sets_table() {
  try {
    std::vector<std::vector<std::string>> rows = {{"set", "tasks", "folder"}};
    std::set<TaskId> tasks;
    size_t evaluations = 0;
    for (const CandidateSet& set : read_candidate_sets({})) {
      rows.push_back({set.name, std::to_string(set.entries.size()), shown(set.folder)});
      evaluations += set.entries.size();
      for (const auto& [task, entry] : set.entries) tasks.insert(task);
    }
    return counted(evaluations, "evaluation") + " of " + counted(tasks.size(), "task") +
           ", from the sets that ship:\n\n" + format_table(rows);
  } catch (const Error& e) {
    return "nothing yet: " + shown(e.what()) + "\n";
  }
}

/// The output of `kbench` without arguments: what the main job would do, and how to start it.
std::string overview() {
  return std::string("kbench ") + version() + " judges GPU kernels. Its main job is to run\n" +
         sets_table() + "\n" + device_line() + R"(.

Start it:
  kbench --fast-p 1.0                              those sets; prints the leaderboard
  kbench --candidates my/ --fast-p 0,0.5,1,2 --output results.jsonl
                                                   your own, over all tasks; resumable

Or begin here:
  kbench list                                      the tasks
  kbench show relu                                 what one asks for
  kbench run my/relu.yaml                          one candidate, in full
  kbench help                                      every flag and verb; kbench help VERB
)";
}

/// Removes Google Benchmark's flags from the arguments.
std::vector<std::string> take_benchmark_flags(std::vector<std::string>& arguments) {
  std::vector<std::string> taken, rest;
  for (auto& argument : arguments) {
    (argument.rfind("--benchmark_", 0) == 0 ? taken : rest).push_back(std::move(argument));
  }
  arguments = std::move(rest);
  return taken;
}

int run_program(std::vector<std::string> arguments) {
  if (arguments.empty()) {
    say(overview());
    return kDone;
  }
  CommandLine line("kbench", kPage, kExitCodes, version());
  const Command program = line.program();
  const std::vector<std::string> benchmark_flags = take_benchmark_flags(arguments);
  const Verb main_job = add_main_job(program, benchmark_flags);
  const Verb verbs[] = {add_list(program),     add_show(program),     add_devices(program),
                        add_run(program),      add_task(program),     add_new(program),
                        add_diagnose(program), add_baseline(program), add_model(program),
                        add_generate(program), add_report(program),   add_serve(program),
                        add_help(program)};
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first == kCompleteWords) {
    say(line.complete({arguments.begin() + 1, arguments.end()}));
    return kDone;
  }
  if (const std::string gone = about_gone_verb(first); !gone.empty()) return complain(gone);
  if (!line.parse(arguments)) return kDone;
  for (const Verb& verb : verbs) {
    if (!verb.command.given()) continue;
    if (!benchmark_flags.empty()) {
      return complain("'" + benchmark_flags.front() + "' goes with the main job, not with '" +
                      verb.command.name() + "'; see kbench --help");
    }
    if (const std::string option = program.first_given_option(); !option.empty()) {
      return complain("'" + option + "' stands before the verb '" + verb.command.name() +
                      "'; put it behind, where the verb takes it");
    }
    return verb.run();
  }
  return main_job.run();
}

}  // namespace

int run(std::vector<std::string> arguments) {
  try {
    return run_program(std::move(arguments));
  } catch (const Error& e) {
    return complain(e);
  } catch (const std::exception& e) {
    return complain(e.what());
  }
}

}  // namespace kbench::program

int main(int argc, char** argv) {
  if (!kbench::program::open_missing_descriptors()) return kbench::program::kUsage;
  // The processes that kbench starts run before and without command-line parsing.
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "judge-process") return kbench::judge::run_judge(argc - 2, argv + 2);
  if (role == "runner-process") return kbench::runner::run_runner(argc - 2, argv + 2);
  if (role == "checked-process") return kbench::sanitize::run_checked_process(argc - 2, argv + 2);
  if (role == "list-devices-process") return kbench::client::run_device_lister();
  kbench::program::let_writes_fail();
  return kbench::program::finish_output(
      kbench::program::run(std::vector<std::string>(argv + 1, argv + argc)));
}
