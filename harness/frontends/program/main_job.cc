// The main job: candidate sets against tasks, to a leaderboard.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/frontends/program/baseline_report.h"
#include "harness/frontends/program/google_benchmark.h"
#include "harness/frontends/program/job.h"
#include "harness/frontends/program/judge_all.h"
#include "harness/frontends/program/open_devices.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/progress.h"
#include "harness/frontends/program/report.h"
#include "harness/frontends/program/signals.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/pool.h"
#include "kbench/score.h"
#include "libkbench/core/in_words.h"

namespace kbench::program {
namespace {

struct MainJobOptions {
  FastPOptions fast_p;
  std::vector<std::string> candidates;
  TaskOptions tasks;
  SizeOptions size;
  DeviceOptions device;
  MeasureOptions measure;
  std::string output;
  std::string shard = "1/1";
  bool confirm = false;
  bool json = false;
};

void add_options(Command app, MainJobOptions& o) {
  const Command group = app.in_group("Main job");
  o.fast_p.add_to(group);
  group.add_option(
      "--candidates DIR|SET...", o.candidates,
      "Candidate sets: folders, or names of sets that ship (default: simple and fused)");
  group.add_option(
      "--shard I/N", o.shard,
      "Only part I of N, for N machines: I from 1 to N; kbench report joins the outputs");
  o.tasks.add_to(app);
  o.size.add_to(app, /*with_auto=*/true);
  o.device.add_all_to(app);
  o.measure.add_to(app);
  app.in_group("Measurement")
      .add_flag("--confirm", o.confirm,
                "Judge each winner (right, and faster than the least P of --fast-p) once more in a "
                "process of its own, where it had another's before it; that result counts");
  const Command output = app.in_group("Output");
  output.add_option(
      "--output FILE", o.output,
      "Append results to a file of JSON lines; what it holds already is not done again");
  output.add_flag("--json", o.json,
                  "One JSON document on standard output, the rest on standard error");
}

/// Says what is kept, and ends the process by the signal; workers end with this process.
void end_by(int signal, const std::string& output) {
  std::fputs(output.empty()
                 ? "\nkbench: interrupted; with --output FILE results would have been kept\n"
                 : ("\nkbench: interrupted; results so far are in " + output +
                    ", the same command goes on from there\n")
                       .c_str(),
             stderr);
  std::signal(signal, SIG_DFL);
  kill(getpid(), signal);
}

/// Keeps only the evaluations, and their tasks, that --benchmark_filter matches.
void apply_filter(const std::string& filter, Job& job) {
  if (filter.empty()) return;
  job.keep([&](const Evaluation& evaluation) { return filter_takes(filter, evaluation.name); });
  if (job.evaluations.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "--benchmark_filter takes none of the evaluations; see --benchmark_list_tests");
  }
}

/// Sends evaluations to the pool, and passes results on as they arrive, from any thread: to the
/// file, the screen, and the waiting benchmark case.
class Evaluations {
 public:
  /// `confirm_above`: what is faster is judged again in a process of its own, if it was not.
  Evaluations(Job& job, Pool& pool, OutputFile& output, Progress& progress,
              std::optional<double> confirm_above)
      : job_(job),
        pool_(pool),
        output_(output),
        progress_(progress),
        confirm_above_(confirm_above) {}

  /// Queues everything before the first benchmark waits for its result; several devices finish in
  /// any order.
  void run_all(const BenchmarkFlags& benchmarks) {
    std::vector<BenchmarkCase> cases;
    std::vector<Pool::Job> jobs;
    for (Evaluation& evaluation : job_.evaluations) {
      if (evaluation.done_before) continue;
      cases.push_back({evaluation.name});
      for (size_t i = 0; i < benchmarks.repetitions && !benchmarks.lists_only; ++i) {
        auto promise = std::make_shared<std::promise<Result>>();
        cases.back().results.push_back(promise->get_future());
        if (const auto result = result_without_judge(evaluation)) {
          settle(evaluation, *promise, *result);
        } else {
          jobs.push_back(job_of(evaluation, promise, job_.asked));
        }
      }
    }
    pool_.add_all(std::move(jobs));
    pool_.close();
    if (cases.empty()) return;
    run_benchmarks(cases, benchmarks.owns_output, [&](const std::string& line) {
      const std::lock_guard lock(mutex_);
      progress_.note(line);
    });
    pool_.wait();
  }

 private:
  using Promise = std::shared_ptr<std::promise<Result>>;

  Pool::Job job_of(Evaluation& evaluation, const Promise& promise, const Question& asked) {
    Pool::Job job;
    job.question = asked;
    job.question.candidate = evaluation.file;
    job.question.candidate.author = evaluation.identity.set;
    job.group = to_string(evaluation.identity.task);
    job.observer.on_stage = [this, &evaluation](const char* stage) {
      const std::lock_guard lock(mutex_);
      progress_.begin(evaluation.name, stage);
    };
    job.on_outcome = [this, &evaluation, promise](Pool::Outcome outcome) {
      const Result result = result_of(evaluation, std::move(outcome));
      if (!must_confirm(result)) return settle(evaluation, *promise, result);
      Question fresh = job_.asked;
      fresh.rule.fresh_runners = true;
      pool_.add(job_of(evaluation, promise, fresh));
    };
    return job;
  }

  bool must_confirm(const Result& result) const {
    return confirm_above_ && result.correct() && result.runner_served > 0 &&
           result.speedup.point > *confirm_above_;
  }

  void settle(Evaluation& evaluation, std::promise<Result>& promise, const Result& result) {
    {
      const std::lock_guard lock(mutex_);
      if (const std::string why = output_.append(result); !why.empty()) progress_.warn(why);
      // Missing candidates get one line for each set at the end (format_failures).
      if (result.verdict != Verdict::missing) progress_.finish(evaluation.name, result);
      evaluation.result = result;
    }
    promise.set_value(result);
  }

  Job& job_;
  Pool& pool_;
  std::mutex mutex_;
  OutputFile& output_;
  Progress& progress_;
  std::optional<double> confirm_above_;
};

/// Prints the leaderboard; a shard, which is a part, has none.
void report(const Job& job, const Shard& shard, const MainJobOptions& options, std::FILE* human) {
  const std::vector<Result> results = job.results();
  std::vector<TaskId> tasks, certified;
  for (const Task* task : job.tasks) {
    tasks.push_back(task->id);
    if (is_certified(certification(job.at(*task)))) certified.push_back(task->id);
  }
  std::vector<LeaderboardRow> rows;
  if (shard.whole()) {
    rows = leaderboard(with_speedup_of(options.fast_p.which(), results), tasks,
                       options.fast_p.thresholds, certified, collapsing_tasks());
  }
  if (options.json) {
    say(job_json(job, results, rows));
    return;
  }
  std::fprintf(human, "\n%s, preset %s, %s\n", names_of(job.devices).c_str(),
               preset_in_words(name_of(job.preset), job.asked.dtype).c_str(),
               counted(tasks.size(), "task").c_str());
  if (const auto& recorded = job.asked.recorded) {
    std::fprintf(human, "speedups are against %s\n%s", recorded->label().c_str(),
                 recorded_notice(*recorded, job.device.name).c_str());
  }
  std::fputs(options.fast_p.note().c_str(), human);
  const std::string table =
      shard.whole() ? format_leaderboard(rows) : shard_notice(shard, results.size());
  std::fputs(format_scores(table, rows, job.device.software() ? job.device.name : "",
                           format_failures(results, job.unusable))
                 .c_str(),
             human);
}

/// "; devices busy 38% of the time": with samples and their checks, the least that such a job
/// takes. Empty where nothing was sampled.
std::string busy_text(const Job& job, double seconds) {
  double busy = 0;
  for (const Evaluation& each : job.evaluations) {
    if (each.done_before || !each.result) continue;
    for (const char* stage : {"warm_up", "sample"}) {
      const auto found = each.result->stage_s.find(stage);
      if (found != each.result->stage_s.end()) busy += found->second;
    }
  }
  const double share = busy / (seconds * static_cast<double>(job.devices.size()));
  if (share == 0) return "";
  return "; " + std::string(job.devices.size() == 1 ? "device" : "devices") + " busy " +
         format_number(std::round(100 * share)) + "% of the time";
}

/// The exit code; if it is not 0, explained on standard error.
int conclude(const Job& job, OutputFile& output) {
  int code = kDone;
  const std::vector<Result> results = job.results();
  const auto faults = std::ranges::count(results, Verdict::harness_error, &Result::verdict);
  if (faults > 0) {
    warn(std::to_string(faults) + " of " + counted(results.size(), "evaluation") +
         " ended as harness_error, through no fault of the candidates; the same command tries them "
         "again");
    code = kFailed;
  }
  if (const std::string lost = output.finish(); !lost.empty()) {
    warn(lost);
    code = kUsage;
  }
  return code;
}

/// Those of the selected tasks that are judged. If neither tasks nor sets are given, those of the
/// shipped sets; a user's set is judged on the whole suite.
std::vector<const Task*> chosen_tasks(std::vector<const Task*> chosen,
                                      const MainJobOptions& options,
                                      const std::vector<CandidateSet>& sets) {
  leave_out_undefined(chosen, options.size.dtype());
  if (options.tasks.given() || !options.candidates.empty()) return chosen;
  std::erase_if(chosen, [&](const Task* task) {
    return std::none_of(sets.begin(), sets.end(),
                        [&](const CandidateSet& set) { return set.entries.contains(task->id); });
  });
  return chosen;
}

int run_main_job(const MainJobOptions& options, std::vector<std::string> benchmark_flags) {
  // Cheap checks come before the first evaluation.
  BenchmarkOut benchmark_out(benchmark_flags);
  const BenchmarkFlags benchmarks = read_benchmark_flags(benchmark_flags);
  if (options.json && benchmarks.owns_output) {
    throw Error(ErrorCode::kInvalidArgument,
                "--json and --benchmark_format both want standard output; give one of them");
  }
  const Shard shard = parse_shard(options.shard);
  // First, as candidates may be of tasks that this makes known.
  std::vector<const Task*> selected = options.tasks.select();
  const std::vector<CandidateSet> sets = read_candidate_sets(options.candidates);
  const std::vector<const Task*> tasks = chosen_tasks(std::move(selected), options, sets);
  Question asked = question_of(options.size, options.device, options.measure);
  asked.plan.thresholds = options.fast_p.thresholds;
  if (options.fast_p.which() != SpeedupOf::own && !asked.rule.workloads) {
    throw Error(ErrorCode::kInvalidArgument,
                "--fast-p-of " + options.fast_p.speedup_of + " takes --workloads N");
  }
  OpenDevices opened = open_devices(options.device);
  const std::vector<vulkan::DeviceSnapshot>& devices = opened.snapshots;
  const Preset preset = check_sizes(tasks, options.size, devices, asked.recorded);
  Job job = plan_job(tasks, sets, preset, devices, std::move(asked));
  apply_filter(benchmarks.filter, job);
  keep_shard(shard, job);
  OutputFile output(benchmarks.lists_only ? "" : options.output);
  if (!benchmarks.lists_only && std::filesystem::is_regular_file(options.output)) {
    take_over(job, read_results(options.output));
  }

  std::FILE* const human = options.json || benchmarks.owns_output ? stderr : stdout;
  const auto missing = std::ranges::count_if(
      job.evaluations, [](const Evaluation& each) { return each.file.empty(); });
  const auto to_do =
      static_cast<size_t>(std::ranges::count_if(job.evaluations, [](const Evaluation& each) {
        return !each.file.empty() && !each.done_before;
      }));
  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress(human, benchmarks.lists_only ? 0 : to_do * benchmarks.repetitions);
    if (job.done_before() > 0) {
      progress.note(std::to_string(job.done_before()) + " already done in " + options.output +
                    ", " + std::to_string(to_do) + " to do");
    }
    const StopSignals signals([&](int signal) { end_by(signal, options.output); });
    Pool pool(std::move(opened.evaluators));
    std::optional<double> confirm_above;
    if (options.confirm) confirm_above = std::ranges::min(options.fast_p.thresholds);
    Evaluations(job, pool, output, progress, confirm_above).run_all(benchmarks);
    for (size_t i = 0; i < devices.size(); ++i) {
      const std::string why = pool.trouble_of(i);
      if (!why.empty()) progress.warn(name_with_index(devices[i]) + " was lost: " + why);
    }
  }
  if (benchmarks.lists_only) return kDone;
  report(job, shard, options, human);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::fprintf(
      human, "\n%s in %s%s%s\n", counted(to_do, "evaluation").c_str(),
      format_seconds(took.count()).c_str(), busy_text(job, took.count()).c_str(),
      missing == 0 ? "" : ("; " + std::to_string(missing) + " without a candidate").c_str());
  const int code = conclude(job, output);
  benchmark_out.commit();
  return code;
}

}  // namespace

Verb add_main_job(Command program, std::vector<std::string> benchmark_flags) {
  auto options = std::make_shared<MainJobOptions>();
  add_options(program, *options);
  return {program,
          [options, flags = std::move(benchmark_flags)] { return run_main_job(*options, flags); }};
}

}  // namespace kbench::program
