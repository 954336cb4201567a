// Choosing among the configurations of a candidate's kernels, before it is judged.
#include <algorithm>
#include <limits>

#include "harness/measure/judge/trial.h"
#include "harness/measure/judge/tuning.h"

namespace kbench::judge {
namespace {

constexpr double kSelectSeconds = 60;
constexpr int kTimedRuns = 3;  ///< of which the shortest counts: nothing makes a run too short

}  // namespace

/// The redzones, and what may only be read, are looked at as in any run: what is changed here could
/// help every run that follows.
bool Trial::tune() {
  if (built_.tunable.empty()) return true;
  context_.supply.quiet();
  context_.clock.raise(context_.kernels);  // The first would be timed at another than the last.
  std::vector<size_t> counts;
  for (const runner::Tunable& tunable : built_.tunable) counts.push_back(tunable.configs.size());
  Tuning tuning(counts);
  Checks checks(context_.workspace, context_.kernels, *redzones_, task()->graph(), watched(false),
                rule(), secret_);
  while (const auto choice = tuning.next()) {
    if (deadline_.passed()) return refuse_late();
    double ns = 0;
    if (auto finding = time_choice(*choice, checks, ns)) {
      finding->message += " (while its configurations were timed)";
      return refuse(*std::move(finding));
    }
    tuning.add(ns);
  }
  select(tuning.best());
  sampler_->draw_task(true);
  for (size_t i = 0; i < counts.size(); ++i) {
    TunedKernel& tuned = result_->tuning.emplace_back();
    tuned.kernel = built_.tunable[i].kernel;
    tuned.chosen = static_cast<int>(tuning.best()[i]);
    for (size_t config = 0; config < counts[i]; ++config) {
      tuned.configs.push_back(
          {built_.tunable[i].configs[config], tuning.times()[i][config] * 1e-6});
    }
  }
  lap("tune");
  return true;
}

void Trial::select(const std::vector<uint32_t>& choice) {
  candidate().send(runner::Select{choice});
  candidate().receive<runner::Selected>(kSelectSeconds);
}

/// The shortest of some runs after one that warms up, on draws of its own.
std::optional<Finding> Trial::time_choice(const std::vector<uint32_t>& choice, Checks& checks,
                                          double& ns) {
  const double seconds = run_seconds();
  select(choice);
  sampler_->draw_task(true);
  vulkan::Commands& commands = sampler_->commands();
  commands.begin();
  checks.record_redzones(commands);
  sampler_->fill_all(commands);
  checks.record_hashes(commands, false);
  commands.submit_and_wait(kHarnessSeconds);
  if (built_.has_setup) sampler_->run_candidate({.setup = true}, seconds);
  sampler_->run_candidate({}, seconds);
  ns = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kTimedRuns; ++run) {
    ns = std::min(ns, sampler_->run_candidate({}, seconds).run_ns);
  }
  return sampler_->guards(checks);
}

}  // namespace kbench::judge
