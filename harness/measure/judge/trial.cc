#include "harness/measure/judge/trial.h"

#include <chrono>
#include <utility>

#include "kbench/error.h"

namespace kbench::judge {
namespace {

void steps(PreparedTrial& trial, const std::function<void(const Progress&)>& on_progress) {
  constexpr std::chrono::milliseconds kLook(50);
  trial.report().stage("load");
  const std::stop_token& others = trial.context().others;
  if (others.stop_possible() && trial.build().compiling() &&
      !trial.candidate().answers_within(kLook) && others.stop_requested()) {
    throw StillCompiling();  // Before memory is made for it.
  }
  const EvaluateRequest& request = trial.request();
  if (!trial.load()) return;
  if (request.question.check) return trial.check();
  if (!trial.prepare()) return;
  if (request.values_only) return look_at_values(trial);
  if (request.inspect) return look_at_outputs(trial);
  if (request.profile_runs) return profile(trial);
  measure(trial, on_progress);
}

/// For what kbench itself has no memory for.
void lack_memory(TrialReport& report, const std::string& message) {
  report.end.lacked_memory = true;
  report.refuse(Verdict::does_not_fit, message + ": choose a smaller preset");
}

/// A runner failed: the baseline's, the opponent's or the candidate's.
void take_failure(PreparedTrial& trial, const RunnerFailure& failure) {
  TrialReport& report = trial.report();
  TrialEnd& end = report.end;
  const bool at_candidate = !trial.has_sampler() || trial.sampler().at_candidate();
  end.baseline_failed = trial.waits_for_baseline() || !at_candidate;
  // Before its code has run, the process of a module takes memory for the task's tensors alone.
  const bool ours =
      end.baseline_failed || (trial.lane().has_own_temporaries() && !trial.candidate().ran());
  if (ours && failure.code == ErrorCode::kOutOfMemory) return lack_memory(report, failure.message);
  if (end.baseline_failed) {
    const bool opponent = trial.opponent().runner() != nullptr;
    report.refuse(Verdict::harness_error,
                  (opponent ? "the opponent or the baseline: " : "the baseline's runner: ") +
                      failure.message);
    return;
  }
  end.device_in_doubt = on_device(report.stage());
  const Graph* graph = trial.task() ? &trial.task()->graph() : nullptr;
  trial.refuse(failure_verdict(
      failure,
      {report.stage(), trial.candidate().ran(), graph, trial.built().kernels, trial.limit()},
      trial.question().limits));
  end.infrastructure_fault = report.result.verdict == Verdict::harness_error;
}

/// A module that fails may have been written for a program that the task no longer has.
void tell_first_release(runner::RunnerKind kind, TrialReport& report) {
  if (kind != runner::RunnerKind::torch || report.result.preset != name_of(Preset::v0)) return;
  const Verdict verdict = report.result.verdict;
  const std::string_view was = first_release(report.result.task);
  const bool of_the_program = is_about_values(verdict) || verdict == Verdict::invalid_candidate ||
                              verdict == Verdict::crashed;
  if (was.empty() || !of_the_program) return;
  report.note("KernelBench's first release, v0, had another program here: " + std::string(was) +
              ". What was written for it fails on this task");
}

/// Tells the seed only after the candidate's last run on values of it.
void tell_seed(PreparedTrial& trial, Result& result) {
  result.seed = trial.secret().key();
  if (!result.correct()) result.failed_sample = trial.sampler().checked_draw();
}

}  // namespace

TrialEnd run_trial(const TrialContext& context, CandidateBuild& build,
                   std::function<void(const char*)> on_stage,
                   const std::function<void(const Progress&)>& on_progress, Result& result) {
  TrialReport report(result, std::move(on_stage));
  PreparedTrial trial(context, build, report);
  struct Bound {  // Of every wait for the candidate's runner.
    CandidateBuild& build;
    ~Bound() {
      build.runner().end_with(nullptr);
      build.runner().leave_for({});
    }
  } const bound{build};
  build.runner().end_with(&trial.deadline());
  try {
    steps(trial, on_progress);
    report.lap_stage();
  } catch (const runner::Refused& refused) {
    report.refuse(refused);
    report.lap_stage();
  } catch (const RunnerFailure& failure) {
    report.lap_stage();
    take_failure(trial, failure);
    if (report.end.baseline_failed || report.end.lacked_memory) return std::move(report.end);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfMemory) throw;
    report.lap_stage();
    lack_memory(report, error.message());  // The judge's own.
    return std::move(report.end);
  }
  report.end.lacked_memory =
      result.verdict == Verdict::out_of_memory && build.kind() == runner::RunnerKind::torch;
  tell_first_release(build.kind(), report);
  if (trial.has_sampler()) tell_seed(trial, result);
  return std::move(report.end);
}

}  // namespace kbench::judge
