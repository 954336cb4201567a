#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/judge/prepared_trial.h"
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

std::vector<double> step_times(RunnerProcess& runner, int profile_runs, double seconds) {
  std::vector<std::vector<double>> runs;
  for (int run = 0; run < kWarmUps + profile_runs; ++run) {
    runner::Refused refused;
    auto answer = profile_once(runner, seconds, refused);
    if (!answer) throw refused;
    if (run >= kWarmUps) runs.push_back(std::move(answer->step_ns));
  }
  return medians_ms(runs);
}

}  // namespace

void profile(PreparedTrial& trial) {
  trial.report().stage("sample");
  trial.context().supply.quiet();
  Sampler& sampler = trial.sampler();
  vulkan::Commands& commands = sampler.commands();
  commands.begin();
  sampler.fill_temporaries(commands, false, trial::Contents::plausible);
  commands.submit_and_wait(kHarnessSeconds);
  const int runs = *trial.request().profile_runs;
  RunnerProcess& candidate = trial.candidate();
  if (trial.software()) candidate.release();
  candidate.has_run();
  StepTimes times;
  times.candidate_ms = step_times(candidate, runs, trial.run_seconds());
  if (trial.software()) candidate.hold();
  trial.at_baseline([&] {
    times.baseline_ms =
        step_times(trial.context().supply.baseline().runner(), runs, trial.baseline_seconds());
  });
  trial.report().end.findings.times = std::move(times);
  trial.report().refuse(Verdict::passed, "");
}

void find_own_share(PreparedTrial& trial) {
  TrialReport& report = trial.report();
  Result& result = report.result;
  const bool tells = trial.lane().tells_its_kernels();
  constexpr int kRuns = 3;
  const std::set<std::string> calls(trial.built().library.begin(), trial.built().library.end());
  if (!tells) {
    for (const std::string& call : calls) {
      if (!call.empty()) result.library_calls.push_back(call);
    }
    if (calls.size() <= 1) {
      result.own_kernels = calls.contains("") ? 1 : 0;
      return;
    }
  }
  std::vector<std::vector<double>> runs;
  std::vector<std::string> library = trial.built().library;
  const bool software = trial.software();
  try {
    if (software) trial.candidate().release();
    for (int run = 0; run < (tells ? 1 : kRuns); ++run) {
      runner::Refused refused;
      // PyTorch's profiler takes five seconds to start, more than all of a trial: for what is not
      // faster than the baseline they are not spent.
      const bool profiler = result.speedup.high > 1;
      auto answer = profile_once(trial.candidate(), trial.run_seconds(), refused, profiler);
      if (!answer) break;
      if (tells) library = std::move(answer->library);
      runs.push_back(std::move(answer->step_ns));
    }
    if (software) trial.candidate().hold();
  } catch (const RunnerFailure&) {
    report.end.device_in_doubt = true;  // It ends with its process.
    return;
  }
  const std::vector<double> ms = medians_ms(runs);
  std::set<std::string> told(result.library_calls.begin(), result.library_calls.end());
  double own = 0, all = 0;
  for (size_t i = 0; i < ms.size() && i < library.size(); ++i) {
    all += ms[i];
    if (library[i].empty()) {
      own += ms[i];
    } else if (told.insert(library[i]).second) {
      result.library_calls.push_back(library[i]);
    }
  }
  // On a CPU only PyTorch's own operators are in a module's profile.
  const bool known = !tells || !software;
  if (known && all > 0) result.own_kernels = own / all;
}

}  // namespace kbench::judge
