#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "harness/frontends/program/baseline_report.h"
#include "harness/frontends/program/candidates.h"
#include "harness/frontends/program/json_documents.h"
#include "harness/frontends/program/judge_again.h"
#include "harness/frontends/program/judge_all.h"
#include "harness/frontends/program/open_devices.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/progress.h"
#include "harness/frontends/program/replay.h"
#include "harness/frontends/program/report.h"
#include "harness/frontends/program/signals.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"
#include "kbench/score.h"
#include "kbench/task.h"
#include "libkbench/base/files.h"
#include "libkbench/base/text.h"

namespace kbench::program {
namespace {

struct RunOptions {
  std::vector<std::string> candidates;
  CandidateTasks tasks;
  SizeOptions size;
  DeviceOptions device;
  MeasureOptions measure;
  std::optional<double> fail_under;
  std::string output, replay;
  bool check = false, compare = false, watch = false, confirm = false, json = false;
  bool verbose = false, quiet = false;
  Detail detail() const { return verbose ? Detail::full : Detail::brief; }
};

/// A question about one candidate.
struct Asked {
  std::string name;  ///< the candidate's
  Question question;
  /// Null where the candidate cannot be read, or is for no task that is known: its judge says so.
  const Task* task = nullptr;
};

/// Reads the candidate for its task and type.
Asked ask(const NamedCandidate& candidate, Question asked, const RunOptions& options) {
  const std::optional<Candidate> read = candidate_if_readable(candidate.source);
  asked.candidate = candidate.source;
  asked.dtype = dtype_for(read, options.size);
  return {candidate.name, std::move(asked), read ? lookup_task(read->task) : nullptr};
}

/// Throws if the sizes are invalid, which is an error on the command line. Sizes that do not fit
/// the device are a verdict.
void check_sizes_of(const Asked& asked, const RunOptions& options,
                    const vulkan::DeviceSnapshot& device) {
  if (asked.task == nullptr) return;
  SizeOptions size = options.size;
  size.dtype_name = name_of(asked.question.dtype);
  check_sizes({asked.task}, size, device, asked.question.recorded, /*must_fit=*/false);
}

/// Throws if these are not two candidates of one task in one type.
void require_comparable(const std::vector<Asked>& candidates) {
  if (candidates.size() != 2) {
    throw Error(ErrorCode::kInvalidArgument, "--compare takes two candidates, and these are " +
                                                 std::to_string(candidates.size()));
  }
  const Asked &a = candidates[0], &b = candidates[1];
  if (a.task != nullptr && b.task != nullptr && a.task != b.task) {
    throw Error(ErrorCode::kInvalidArgument, shown(a.name) + " is for " + to_string(a.task->id) +
                                                 " and " + shown(b.name) + " for " +
                                                 to_string(b.task->id) +
                                                 "; two candidates of one task can be compared");
  }
  if (a.question.dtype != b.question.dtype) {
    throw Error(ErrorCode::kInvalidArgument,
                shown(a.name) + " and " + shown(b.name) +
                    " are written for different types; two candidates in one can be compared");
  }
}

/// A result of --check: "my/relu.yaml: compiles: ...", below the diagnostics.
std::string format_check(const Result& result, const std::string& candidate) {
  std::string text = format_diagnostics(result, candidate, "");
  text += shown(candidate) + ": " + std::string(name_of(result.verdict)) + ": ";
  if (result.verdict == Verdict::compiles) {
    return text + "fits " + to_string(result.task) + "_" + result.task_name + " at preset " +
           result.preset + " on " + shown(result.device) + "; without --check it is run, too\n";
  }
  return text +
         (repeats_diagnostic(result) ? std::string(explain(result.verdict))
                                     : shown_message(result.message)) +
         "\n";
}

/// The document of --compare --json; `speedup`: of b over a, where both passed.
struct Comparison {
  Result a, b;
  std::optional<Interval> speedup;
};
KBENCH_FIELDS(Comparison, a, b, speedup)

std::optional<Comparison> comparison_of(const std::vector<Result>& results) {
  if (results.size() != 2) return std::nullopt;
  Comparison both{results[0], results[1], std::nullopt};
  if (both.a.correct() && both.b.correct()) both.speedup = ratio_of(both.b.speedup, both.a.speedup);
  return both;
}

/// "1.20x [1.18, 1.22] of b.yaml over a.yaml: b.yaml is faster"; empty if there is no speedup.
std::string format_gain(const Comparison& both) {
  if (!both.speedup) return "";
  const std::string a = shown(both.a.candidate), b = shown(both.b.candidate);
  return format_speedup(*both.speedup) + " of " + b + " over " + a + ": " +
         (both.speedup->low > 1    ? b + " is faster"
          : both.speedup->high < 1 ? a + " is faster"
                                   : "no difference is seen") +
         "\n";
}

/// Judges candidates one after another, until all are done or the user stops it.
class Run {
 public:
  Run(const RunOptions& options, const std::vector<Asked>& candidates)
      : options_(options),
        candidates_(candidates),
        output_(options.output),
        progress_(stderr, candidates.size()) {}

  void judge_on(std::vector<std::unique_ptr<Evaluator>> evaluators, const std::stop_token& stop) {
    std::vector<NamedQuestion> questions;
    for (const Asked& each : candidates_) questions.push_back({each.name, each.question});
    const auto on_result = [this](size_t i, Result result) { keep(i, std::move(result)); };
    judge_all(std::move(evaluators), std::move(questions), progress_, on_result, stop,
              OnStop::cancel);
    progress_.close();
  }
  /// In the order of the candidates.
  std::vector<Result> results() const {
    std::vector<Result> all;
    for (const auto& [i, result] : results_) all.push_back(result);
    return all;
  }
  OutputFile& output() { return output_; }

  /// A block for each that failed, where all had a line each; else nothing.
  std::string failures() const {
    std::string text;
    if (candidates_.size() == 1 || options_.check || options_.verbose) return text;
    for (const auto& [i, result] : results_) {
      if (result.correct()) continue;
      text += "\n" + format_result(result, candidates_[i].name, Detail::brief);
    }
    return text.empty() ? text : text + "\n";
  }

 private:
  /// The text that is printed as soon as a candidate is judged.
  std::string text_of(const Result& result, const std::string& name) const {
    if (options_.json || (options_.quiet && candidates_.size() > 1)) return "";
    if (options_.check) return format_check(result, name);
    if (candidates_.size() > 1 && !options_.verbose) return format_line(result, name);
    return format_result(result, name, options_.detail());
  }
  void keep(size_t i, Result result) {
    const std::string& name = candidates_[i].name;
    const std::string& author = candidates_[i].question.candidate.author;
    if (!author.empty()) result.set = set_name(author);  // of all below a folder that was given
    // "candidate.yaml" alone does not tell which of several it is.
    if (result.candidate.empty() || candidates_.size() > 1) result.candidate = shown(name);
    if (const std::string why = output_.append(result); !why.empty()) progress_.warn(why);
    if (candidates_.size() > 1)
      options_.json ? progress_.finish(name, result) : progress_.advance();
    progress_.hide();
    say(text_of(result, name));
    std::fflush(stdout);
    results_.emplace(i, std::move(result));
  }

  const RunOptions& options_;
  const std::vector<Asked>& candidates_;
  OutputFile output_;
  Progress progress_;
  std::map<size_t, Result> results_;
};

/// "12 candidates: 10 passed, 2 wrong_values; speedups 0.52x to 2.1x, median 1.2x".
std::string summary_of(const std::vector<Result>& results) {
  std::map<Verdict, size_t> counts;
  std::vector<double> speedups;
  for (const Result& result : results) {
    ++counts[result.verdict];
    if (result.correct()) speedups.push_back(result.speedup.point);
  }
  std::string text =
      std::to_string(results.size()) + " candidates: " + listed(counts, [](const auto& each) {
        return std::to_string(each.second) + " " + coloured_name(each.first);
      });
  if (!speedups.empty()) {
    const auto [least, most] = std::ranges::minmax(speedups);
    text += "; speedups " + format_factor(least) + "x to " + format_factor(most) + "x, median " +
            format_factor(median(speedups)) + "x";
  }
  return text + "\n";
}

/// The verdicts of the results that failed.
std::set<Verdict> verdicts_of(const std::vector<Result>& results) {
  std::set<Verdict> verdicts;
  for (const Result& result : results) verdicts.insert(result.verdict);
  for (const Verdict fine : {Verdict::passed, Verdict::compiles}) verdicts.erase(fine);
  return verdicts;
}

/// Whether all passed, or compile where no more was asked, and reached the required speedup;
/// reports those that did not.
bool reach(const std::vector<Result>& results, const RunOptions& options) {
  std::vector<std::string> slow;
  bool all_passed = true;
  for (const Result& result : results) {
    all_passed = all_passed && (result.correct() || result.verdict == Verdict::compiles);
    if (!options.fail_under || !result.correct() || result.speedup.point >= *options.fail_under) {
      continue;
    }
    slow.push_back(shown(result.candidate) + " (" + format_speedup(result.speedup) + ")");
  }
  if (slow.empty()) return all_passed;
  constexpr size_t kNamed = 5;
  warn("slower than --fail-under " + format_number(*options.fail_under, 6) + ": " +
       listed(slow, std::identity(), kNamed));
  return false;
}

/// Waits until a file in a folder is saved.
class Watch {
 public:
  /// Throws kIo if the folder cannot be watched.
  explicit Watch(const std::string& folder) : events_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    if (!events_.open() ||
        inotify_add_watch(events_.get(), folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
      throw_io("watch", folder);
    }
  }

  /// Blocks until a file was saved in the folder, since the last call or from now on, and nothing
  /// more is saved for a moment. What editors keep for themselves does not count. Throws kIo.
  void wait() {
    constexpr int kQuietMs = 100;
    for (bool saved = false;;) {
      pollfd ready = {events_.get(), POLLIN, 0};
      const int count = poll(&ready, 1, saved ? kQuietMs : -1);
      if (count < 0 && errno != EINTR) throw_io("watch", "a folder");
      if (count == 0) return;
      saved |= take_saves();
    }
  }

 private:
  /// Ignores the backups and swap files of editors.
  static bool is_ours(std::string_view name) {
    return !name.empty() && name.front() != '.' && name.back() != '~' && !name.ends_with(".swp") &&
           name != "4913";  // vim tests whether it can write here
  }

  bool take_saves() {
    bool saved = false;
    alignas(inotify_event) char buffer[8192];
    for (;;) {
      const ssize_t count = read(events_.get(), buffer, sizeof buffer);
      if (count <= 0) return saved;
      for (ssize_t at = 0; at < count;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
        saved |= event->len > 0 && is_ours(event->name);
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    }
  }

  UniqueFd events_;
};

/// Judges a candidate again whenever a file beside it is saved; devices stay open. Ends by a
/// signal, or where the device is lost.
[[noreturn]] void watch(const RunOptions& options, const Question& asked, const std::string& task,
                        NamedCandidate candidate, OpenDevices opened) {
  const std::string folder = std::filesystem::absolute(candidate.name).parent_path().string();
  Watch saves(folder);
  Evaluator& judge = *opened.evaluators.front();
  std::optional<Result> before;
  for (;;) {
    try {
      const Asked now = ask(candidate, asked, options);
      check_sizes_of(now, options, opened.snapshots.front());
      const Result result = judge.evaluate(now.question);
      say(options.check ? format_check(result, candidate.name)
                        : format_result(result, candidate.name, options.detail()));
      if (result.correct() && before)
        say("  before      " + format_speedup(before->speedup) + "\n");
      if (result.correct()) before = result;
    } catch (const Error& e) {  // as where a file is being written
      warn(e.what());
    }
    if (const std::string lost = judge.trouble(); !lost.empty()) {
      throw Error(ErrorCode::kDeviceLost, lost);
    }
    say("waits for a save in " + shown(folder) + "; Ctrl-C ends it\n");
    std::fflush(stdout);
    saves.wait();
    try {
      candidate = named_candidates({options.candidates.front()}, task).front();
    } catch (const Error& e) {
      warn(e.what());
    }
  }
}

int run_run(RunOptions& options) {
  const auto run_given = std::ranges::find_if(options.candidates, is_run);
  if (run_given != options.candidates.end()) {
    if (options.candidates.size() > 1 || options.check || options.compare || options.watch ||
        options.fail_under || !options.output.empty() || !options.replay.empty() ||
        options.tasks.given()) {
      throw Error(
          ErrorCode::kInvalidArgument,
          shown(*run_given) +
              " is a run: it is judged alone, at its own tasks, into itself; of these flags "
              "it takes --confirm and --json");
    }
    return judge_again(*run_given, options.size, options.device, options.measure, options.confirm,
                       options.json);
  }
  if (options.confirm) {
    throw Error(ErrorCode::kInvalidArgument,
                shown(options.candidates.front()) +
                    " is no run, whose winners --confirm measures again: it holds no run.yaml "
                    "(kbench generate makes one)");
  }
  if (options.compare && options.measure.recorded_given()) {
    throw Error(ErrorCode::kInvalidArgument,
                "--compare pairs both candidates with the eager baseline; leave --baseline out");
  }
  std::optional<ResultLine> before;
  if (!options.replay.empty()) {
    before = result_to_replay(options.replay, options.candidates.front());
    ask_at_sizes_of(before->result, options.size);
  }
  Question asked = question_of(options.size, options.device, options.measure);
  asked.check = options.check;
  if (before) ask_for_values_of(before->result, asked);
  if (options.fail_under) asked.plan.thresholds = {*options.fail_under};
  options.tasks.read();
  std::string task = options.tasks.of_unnamed();
  if (before && task.empty()) task = to_string(before->result.task);
  const std::vector<NamedCandidate> candidates = named_candidates(options.candidates, task);
  std::vector<Asked> questions;
  for (const NamedCandidate& each : candidates) {
    questions.push_back(ask(each, asked, options));
    options.tasks.expect(questions.back().task, each.name);
  }
  if (before && questions.size() != 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "--replay takes one candidate, and these are " + std::to_string(questions.size()));
  }
  if (options.compare) require_comparable(questions);
  if (options.watch && (candidates.size() > 1 || options.candidates.front() == "-")) {
    throw Error(ErrorCode::kInvalidArgument, "--watch takes one candidate, in a file");
  }
  OpenDevices opened = open_devices(options.device);
  const vulkan::DeviceSnapshot device = opened.snapshots.front();
  if (options.size.preset != "auto") options.size.fixed_preset();
  if (options.watch) watch(options, asked, task, candidates.front(), std::move(opened));
  for (const Asked& each : questions) check_sizes_of(each, options, device);
  if (asked.recorded) {
    std::fputs(recorded_notice(*asked.recorded, device.name).c_str(), stderr);
  }
  Run run(options, questions);
  int signal = 0;
  {
    const StopSignals signals([](int) {});
    run.judge_on(std::move(opened.evaluators), signals.gently());
    signal = signals.signal();
  }
  const std::vector<Result> results = run.results();
  const std::optional<Comparison> both = options.compare ? comparison_of(results) : std::nullopt;
  if (before && results.size() == 1) {
    say(options.json ? replay_json(*before, results.front())
                     : format_replay(*before, results.front()));
    return is_repeated(before->result, results.front()) ? kDone : kFailed;
  }
  if (options.json) {
    say(both ? json_document(*both) : results_json(results));
  } else {
    if (!options.quiet) say(run.failures());
    if (both) {
      say(format_gain(*both));
    } else if (candidates.size() > 1) {
      say(summary_of(results));
      if (options.quiet) say(format_meanings(verdicts_of(results)));
    }
    if (device.software() && std::ranges::any_of(results, &Result::correct)) {
      say(software_warning(device.name) + "\n");
    }
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
  return reach(results, options) ? kDone : kFailed;
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
      "then. "
      "The folder of a run of kbench generate is judged again, without asking a model: as it was "
      "begun, what is not judged yet (of --no-judge, or where a judge failed); on another device "
      "or at other sizes every different candidate, into a file of results under RUN/judged. The "
      "best candidate of each model on each task is measured once more, on fresh inputs, where it "
      "was chosen among several measurements, into RUN/confirmed.jsonl, which kbench report goes "
      "by: the best of many noisy measurements is too good.",
      "  kbench run my/relu.yaml\n"
      "  kbench run model_new.py --task level1/19\n"
      "  kbench run my/ other.yaml --preset smoke --device cpu\n"
      "  kbench run my/ --check                  whether they compile\n"
      "  kbench run my/relu.yaml --watch         again after each save\n"
      "  kbench run old.yaml new.yaml --compare\n"
      "  kbench run my/relu.yaml --fail-under 1.2\n"
      "  kbench run my/relu.yaml --replay results.jsonl:3\n"
      "  kbench run my/ --server http://gpu-host:8000\n"
      "  kbench show relu --preset smoke --candidate | kbench run - --preset smoke\n"
      "  kbench run my/relu.yaml --validate --input-seed 7 --json\n"
      "  kbench run run1 --device 1 --preset v0.1");
  app.add_option("CANDIDATE,--candidates", options->candidates,
                 "YAML files, Python files with a ModelNew, folders, or - for one on standard "
                 "input; or a run's folder; also behind --candidates",
                 readable_or_dash())
      .required();
  options->tasks.add_to(app);
  const Command how = app.in_group("How");
  const Option check = how.add_flag(
      "--check", options->check,
      "Only read and compile, at the preset's sizes, without running: the best verdict is "
      "`compiles`");
  const Option compare = how.add_flag(
      "--compare", options->compare,
      "Two candidates of one task: also what the second gains over the first, with its 95% "
      "interval, of speedups that are each paired with the baseline");
  const Option watch = how.add_flag("--watch", options->watch,
                                    "One candidate, again whenever a file beside it is saved, "
                                    "with device, compiler and baseline kept warm");
  const Option replay = how.add_option(
      "--replay RESULTS[:LINE]", options->replay,
      "Judge a result's candidate again on the values that it was judged on, at its sizes: whether "
      "it is the same verdict in the same words, and what is not as it was. Exit code 1 where they "
      "differ. A replay is no result and is kept nowhere");
  how.add_flag("--confirm", options->confirm,
               "Of a run: measure all winners once more, and nothing else");
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_all_to(app);
  for (const Option& one_device : {compare, watch}) {
    one_device.excludes(app.option("--devices"));
  }
  options->measure.add_to(app);
  for (const char* given : {"--input-seed", "--min-samples"}) replay.excludes(app.option(given));
  const Command output = app.in_group("Output");
  const Option fail_under = output.add_option(
      "--fail-under P", options->fail_under,
      "Exit code 1 also where a candidate's speedup (the median, not its interval) is "
      "below P",
      within(0, 1e6));
  const Option file =
      output.add_option("--output FILE", options->output, "Append results to a file of JSON lines");
  const Option json =
      output.add_flag("--json", options->json, "Results as JSON on standard output");
  const Option verbose = output.add_flag("-v,--verbose", options->verbose,
                                         "All of each result, with stages and rates");
  const Option quiet =
      output.add_flag("-q,--quiet", options->quiet, "Of several candidates the sum alone");
  for (const Option& other : {json, quiet}) verbose.excludes(other);
  for (const Option& other : {compare, fail_under, file}) check.excludes(other);
  for (const Option& other : {check, compare, watch, fail_under, file}) replay.excludes(other);
  for (const Option& other : {compare, fail_under, file, json}) watch.excludes(other);
  return {app, [options] { return run_run(*options); }};
}

}  // namespace kbench::program
