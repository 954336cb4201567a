#include <utility>
#include <vector>

#include "harness/measure/judge/inspect.h"
#include "harness/measure/judge/prepared_trial.h"
#include "kbench/reference.h"

namespace kbench::judge {
namespace {

void refuse_or_pass(PreparedTrial& trial, std::optional<Finding> finding) {
  if (finding) {
    trial.refuse(*std::move(finding));
  } else {
    trial.report().refuse(Verdict::passed, "");
  }
}

}  // namespace

void look_at_outputs(PreparedTrial& trial) {
  trial.report().stage("sample");
  std::optional<Checks> checks;
  trial.make_checks_with_redzones(checks);
  Inspection inspection;
  auto finding = inspect(trial.parts(), trial.sampler(), *checks, trial.known_draws()->other_inputs,
                         trial.run_seconds(), inspection);
  trial.report().end.findings.inspection = std::move(inspection);
  refuse_or_pass(trial, std::move(finding));
}

void look_at_values(PreparedTrial& trial) {
  const Graph& graph = trial.task()->graph();
  std::optional<Checks> checks;
  std::vector<Tensor> right;
  for (const trial::Contents contents : trial::kAllContents) {
    const bool first = right.empty();
    if (!first && trial.lane().has_own_temporaries()) break;
    if (!first && trial.built().has_setup) {
      if (auto finding = trial.set_up_again(contents)) {
        return refuse_or_pass(trial, std::move(finding));
      }
    }
    trial.make_checks_with_redzones(checks);
    if (first) {
      right = run_reference(
          graph, draw_tensors(graph, trial.task()->task().id, trial.known_draws()->inputs),
          {.precision = Precision::f64});
    }
    auto finding = check_values(trial.parts(), trial.sampler(), *checks, trial.rule(), right,
                                contents, trial.run_seconds());
    if (!finding) continue;
    tell_contents(contents, *finding);
    return refuse_or_pass(trial, std::move(finding));
  }
  refuse_or_pass(trial, std::nullopt);
}

}  // namespace kbench::judge
