#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "harness/evaluate/client/named_task.h"
#include "harness/frontends/program/baseline_report.h"
#include "harness/frontends/program/candidate_arguments.h"
#include "harness/frontends/program/judge_all.h"
#include "harness/frontends/program/open_devices.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/output_file.h"
#include "harness/frontends/program/progress.h"
#include "harness/frontends/program/report.h"
#include "harness/frontends/program/signals.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"
#include "kbench/score.h"
#include "kbench/task.h"
#include "kbench/text.h"

namespace kbench::program {
namespace {

struct RunOptions {
  std::vector<std::string> candidates;
  std::string task;
  std::vector<std::string> tasks;
  SizeOptions size;
  DeviceOptions device;
  MeasureOptions measure;
  std::optional<double> fail_under;
  std::string output;
  bool json = false;
};

/// Throws if the sizes are invalid, which is an error on the command line. Sizes that do not fit
/// the device are a verdict.
void check_sizes_of(const NamedCandidate& candidate, const RunOptions& options,
                    const vulkan::DeviceSnapshot& device,
                    const std::optional<RecordedTimes>& recorded) {
  const Task* const task = client::named_task(candidate.source);
  SizeOptions size = options.size;
  size.dtype_name = name_of(dtype_for(candidate.source, size));
  if (task != nullptr) check_shapes({task}, size, device, recorded);
}

/// Judges candidates one after another, until all are done or the user stops it.
class Run {
 public:
  Run(const RunOptions& options, const std::vector<NamedCandidate>& candidates)
      : options_(options),
        candidates_(candidates),
        output_(options.output),
        progress_(stderr, candidates.size()) {}

  void judge_on(std::vector<std::unique_ptr<queue::QueueJudge>> judges,
                const EvaluateOptions& evaluation, const std::stop_token& stop) {
    std::vector<NamedRequest> requests;
    for (const NamedCandidate& each : candidates_) {
      requests.push_back({each.name, {each.source, evaluation}});
      requests.back().request.options.dtype = dtype_for(each.source, options_.size);
    }
    const auto on_result = [this](size_t i, Result result) { keep(i, std::move(result)); };
    judge_all(std::move(judges), std::move(requests), progress_, on_result, stop, OnStop::cancel);
    progress_.close();
  }
  const std::vector<Result>& results() const { return results_; }
  OutputFile& output() { return output_; }

 private:
  void keep(size_t i, Result result) {
    const std::string& name = candidates_[i].name;
    // "candidate.yaml" alone does not tell which of several it is.
    if (result.candidate.empty() || candidates_.size() > 1) result.candidate = shown(name);
    if (const std::string why = output_.append(result); !why.empty()) progress_.warn(why);
    if (candidates_.size() > 1) progress_.finish(name, result);
    progress_.hide();
    if (!options_.json) {
      say(format_result(result, name));
      std::fflush(stdout);
    }
    results_.push_back(std::move(result));
  }

  const RunOptions& options_;
  const std::vector<NamedCandidate>& candidates_;
  OutputFile output_;
  Progress progress_;
  std::vector<Result> results_;
};

/// "12 candidates: 10 passed, 2 wrong_values; speedups 0.52x to 2.1x, median 1.2x".
std::string summary_of(const std::vector<Result>& results) {
  std::map<Verdict, size_t> counts;
  std::vector<double> speedups;
  for (const Result& result : results) {
    ++counts[result.verdict];
    if (result.correct()) speedups.push_back(result.speedup.point);
  }
  std::string text;
  for (const auto& [verdict, count] : counts) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + coloured_name(verdict);
  }
  text = std::to_string(results.size()) + " candidates: " + text;
  if (!speedups.empty()) {
    const auto [least, most] = std::ranges::minmax(speedups);
    text += "; speedups " + format_number(least) + "x to " + format_number(most) + "x, median " +
            format_number(median(speedups)) + "x";
  }
  return text + "\n";
}

/// Whether all passed and reached the required speedup; reports those that did not.
bool reach(const std::vector<Result>& results, const std::optional<double>& fail_under) {
  std::vector<std::string> slow;
  bool all_passed = true;
  for (const Result& result : results) {
    all_passed = all_passed && result.correct();
    if (!fail_under || !result.correct() || result.speedup.point >= *fail_under) continue;
    slow.push_back(shown(result.candidate) + " (" + format_speedup(result.speedup) + ")");
  }
  if (slow.empty()) return all_passed;
  constexpr size_t kNamed = 5;
  std::string text;
  for (size_t i = 0; i < std::min(slow.size(), kNamed); ++i) text += (i > 0 ? ", " : "") + slow[i];
  if (slow.size() > kNamed) text += " and " + std::to_string(slow.size() - kNamed) + " more";
  warn("slower than --fail-under " + format_number(*fail_under, 6) + ": " + text);
  return false;
}

int run_run(const RunOptions& options) {
  EvaluateOptions evaluation = evaluate_options(options.size, options.device, options.measure);
  if (options.fail_under) evaluation.plan.thresholds = {*options.fail_under};
  add_task_paths(options.tasks);
  const std::vector<NamedCandidate> candidates = named_candidates(options.candidates, options.task);
  OpenDevices opened = open_devices(options.device, evaluation);
  const vulkan::DeviceSnapshot& device = opened.snapshots.front();
  if (options.size.preset != "auto") options.size.fixed_preset();
  for (const NamedCandidate& candidate : candidates) {
    check_sizes_of(candidate, options, device, evaluation.recorded);
  }
  if (evaluation.recorded) {
    std::fputs(recorded_notice(*evaluation.recorded, device.name).c_str(), stderr);
  }
  Run run(options, candidates);
  int signal = 0;
  {
    const StopSignals signals([](int) {});
    run.judge_on(std::move(opened.judges), evaluation, signals.gently());
    signal = signals.signal();
  }
  const std::vector<Result>& results = run.results();
  if (options.json) {
    say(results_json(results) + "\n");
  } else {
    if (results.size() > 1) say(summary_of(results));
    if (device.software() && !results.empty()) say(software_warning(device.name) + "\n");
  }
  if (const std::string lost = run.output().finish(); !lost.empty()) {
    warn(lost);
    return kUsage;
  }
  if (signal != 0 && results.size() < candidates.size()) {
    warn("interrupted: " + std::to_string(results.size()) + " of " +
         std::to_string(candidates.size()) + " judged" +
         (options.output.empty() ? "" : "; results are in " + shown(options.output)));
    return 128 + signal;
  }
  return reach(results, options.fail_under) ? kDone : kFailed;
}

}  // namespace

Verb add_run(Command program) {
  auto options = std::make_shared<RunOptions>();
  const Command app = program.add_verb(
      "run", "Evaluate candidates, or folders of them, in full",
      "Evaluates candidates, and every candidate below folders: compiles each, runs it beside the "
      "eager baseline on fresh inputs, checks every element of every timed output, and reports "
      "verdict, speedup with its 95% interval, times and rates. Exit code 1 when one does not "
      "pass. Ctrl-C ends it after what has been judged, which is printed and kept; exit code 130 "
      "then.",
      "  kbench run my/relu.yaml\n"
      "  kbench run model_new.py --task level1/19\n"
      "  kbench run my/ other.yaml --preset smoke --device cpu\n"
      "  kbench run my/relu.yaml --fail-under 1.2\n"
      "  kbench run my/ --server http://gpu-host:8000\n"
      "  kbench show relu --preset smoke --candidate | kbench run - --preset smoke\n"
      "  kbench run my/relu.yaml --validate --input-seed 7 --json");
  app.add_option("CANDIDATE", options->candidates,
                 "YAML files, Python files with a ModelNew, folders, or - for one on standard "
                 "input",
                 readable_or_dash())
      .required();
  app.add_option("--tasks PATH,...", options->tasks,
                 "Files of tasks of your own, or folders of them, that candidates are of")
      .comma_separated();
  app.add_option("--task TASK", options->task,
                 "The task of a ModelNew that names none: level1/19, or its name");
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_remote_to(app);
  options->measure.add_to(app);
  const Command output = app.in_group("Output");
  output.add_option(
      "--fail-under P", options->fail_under,
      "Exit code 1 also where a candidate's speedup (the median, not its interval) is "
      "below P",
      within(0, 1e6));
  output.add_option("--output FILE", options->output, "Append results to a file of JSON lines");
  output.add_flag("--json", options->json, "Results as JSON on standard output");
  return {app, [options] { return run_run(*options); }};
}

}  // namespace kbench::program
