// What a trial does when it is asked to look closer and not to judge.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "harness/measure/judge/inspect.h"
#include "harness/measure/judge/trial.h"
#include "kbench/reference.h"
#include "kbench/score.h"

namespace kbench::judge {
namespace {

constexpr int kWarmUps = 2;

/// Of several runs, step by step.
std::vector<double> medians_ms(const std::vector<std::vector<double>>& runs_ns) {
  std::vector<double> medians;
  for (size_t step = 0; !runs_ns.empty() && step < runs_ns.front().size(); ++step) {
    std::vector<double> times;
    for (const std::vector<double>& run : runs_ns) {
      if (step < run.size()) times.push_back(run[step]);
    }
    medians.push_back(median(times) * 1e-6);
  }
  return medians;
}

/// One run, step by step; nothing where the runner refuses, as `refused` then says.
std::optional<runner::Profiled> profile_once(RunnerProcess& runner, double seconds,
                                             runner::Refused& refused, bool profiler = true) {
  runner.send(runner::Profile{seconds, profiler});
  return runner.receive<runner::Profiled>(seconds + kAnswerSeconds, refused);
}

}  // namespace

SampleParts Trial::parts() {
  return {context_.device,
          context_.workspace.commands,
          context_.kernels,
          secret_,
          *task(),
          memory_,
          context_.supply.baseline().runner(),
          candidate(),
          context_.pausable,
          baseline_seconds(),
          from_outside(),
          from_outside() ? compile_limit(question_.limits, runner::RunnerKind::torch).seconds : 0};
}

double Trial::baseline_seconds() const {
  return std::min(question_.limits.total_seconds + kAnswerSeconds, kHarnessSeconds);
}

void Trial::refuse_or_pass(std::optional<Finding> finding) {
  if (finding) {
    refuse(*std::move(finding));
  } else {
    refuse(Verdict::passed, "");
  }
}

void Trial::make_checks_with_redzones() {
  make_checks();
  vulkan::Commands& commands = sampler_->commands();
  commands.begin();
  checks_->record_redzones(commands);
  commands.submit_and_wait(kHarnessSeconds);
}

void Trial::inspect() {
  stage("sample");
  make_checks_with_redzones();
  Inspection inspection;
  auto finding = judge::inspect(parts(), *sampler_, *checks_, run_seconds(), inspection);
  end_.findings.inspection = std::move(inspection);
  refuse_or_pass(std::move(finding));
}

void Trial::look_at_values(uint64_t seed) {
  const Graph& graph = task()->graph();
  std::vector<Tensor> right;
  for (const trial::Contents contents : trial::kAllContents) {
    const bool first = right.empty();
    if (!first && from_outside()) break;  // A module's temporaries are PyTorch's own.
    if (!first && built_.has_setup) {
      if (auto finding = set_up_again(contents)) return refuse_or_pass(std::move(finding));
    }
    make_checks_with_redzones();
    if (first) {
      right = run_reference(graph, draw_tensors(graph, task()->task().id, seed),
                            {.precision = Precision::f64});
    }
    auto finding =
        check_values(parts(), *sampler_, *checks_, rule(), right, contents, run_seconds());
    if (!finding) continue;
    tell_contents(contents, *finding);
    return refuse_or_pass(std::move(finding));
  }
  refuse_or_pass(std::nullopt);
}

std::vector<double> Trial::step_times(RunnerProcess& runner, double seconds) {
  std::vector<std::vector<double>> runs;
  for (int run = 0; run < kWarmUps + *request_.profile_runs; ++run) {
    runner::Refused refused;
    auto answer = profile_once(runner, seconds, refused);
    if (!answer) throw refused;
    if (run >= kWarmUps) runs.push_back(std::move(answer->step_ns));
  }
  return medians_ms(runs);
}

/// Which part of its time a candidate that passed spends in kernels of its own, where others have a
/// part in it; and what these are. Of a module by its process's word. A profile that fails leaves
/// the share unset.
void Trial::find_own_share() {
  constexpr int kRuns = 3;
  const std::set<std::string> calls(built_.library.begin(), built_.library.end());
  if (!from_outside()) {
    for (const std::string& call : calls) {
      if (!call.empty()) result_->library_calls.push_back(call);
    }
    if (calls.size() <= 1) {
      result_->own_kernels = calls.contains("") ? 1 : 0;
      return;
    }
  }
  std::vector<std::vector<double>> runs;
  std::vector<std::string> library = built_.library;
  const bool software = context_.device.snapshot().software();
  try {
    if (software) candidate().release();
    for (int run = 0; run < (from_outside() ? 1 : kRuns); ++run) {
      runner::Refused refused;
      // PyTorch's profiler takes five seconds to start, more than all of a trial: for what is not
      // faster than the baseline they are not spent.
      const bool profiler = result_->speedup.high > 1;
      auto answer = profile_once(candidate(), run_seconds(), refused, profiler);
      if (!answer) break;
      if (from_outside()) library = std::move(answer->library);
      runs.push_back(std::move(answer->step_ns));
    }
    if (software) candidate().hold();
  } catch (const RunnerFailure&) {
    end_.device_in_doubt = true;  // It ends with its process.
    return;
  }
  const std::vector<double> ms = medians_ms(runs);
  std::set<std::string> told(result_->library_calls.begin(), result_->library_calls.end());
  double own = 0, all = 0;
  for (size_t i = 0; i < ms.size() && i < library.size(); ++i) {
    all += ms[i];
    if (library[i].empty()) {
      own += ms[i];
    } else if (told.insert(library[i]).second) {
      result_->library_calls.push_back(library[i]);
    }
  }
  // On a CPU only PyTorch's own operators are in a module's profile.
  const bool known = !from_outside() || !software;
  if (known && all > 0) result_->own_kernels = own / all;
}

void Trial::profile() {
  stage("sample");
  context_.supply.quiet();
  vulkan::Commands& commands = sampler_->commands();
  commands.begin();
  sampler_->fill_temporaries(commands, false, trial::Contents::plausible);
  commands.submit_and_wait(kHarnessSeconds);
  const bool software = context_.device.snapshot().software();
  if (software) candidate().release();
  candidate().has_run();
  StepTimes times;
  times.candidate_ms = step_times(candidate(), run_seconds());
  if (software) candidate().hold();
  at_baseline_ = true;
  times.baseline_ms = step_times(context_.supply.baseline().runner(), baseline_seconds());
  at_baseline_ = false;
  end_.findings.times = std::move(times);
  refuse(Verdict::passed, "");
}

}  // namespace kbench::judge
