#include "harness/diagnose/profile.h"

#include <numeric>
#include <set>

#include "kbench/candidate.h"
#include "kbench/task.h"

namespace kbench::diagnose {
namespace {

double flops_of(const OperatorCall& call) { return call.op->flops ? call.op->flops(call) : 0; }

StepProfile of_step(const ResolvedCandidate& candidate, const ResolvedStep& step) {
  StepProfile profile;
  if (step.kernel < 0) {
    profile.name = step.call.op->name + " (built in)";
    profile.bytes = least_bytes(step.call);
    profile.flops = flops_of(step.call);
    return profile;
  }
  profile.name = candidate.kernels[static_cast<size_t>(step.kernel)].kernel->name;
  std::set<int> buffers(step.bind.begin(), step.bind.end());
  for (const auto& [offset, buffer] : step.addresses) buffers.insert(buffer);
  for (const int buffer : buffers) {
    profile.bytes +=
        static_cast<double>(candidate.buffers[static_cast<size_t>(buffer)].type.bytes());
  }
  return profile;
}

/// Times on descriptions; where there are more descriptions than times, the last time is the
/// rest's.
std::vector<StepProfile> joined(std::vector<StepProfile> steps, const std::vector<double>& ms) {
  if (ms.empty() || steps.empty()) return {};
  while (steps.size() > ms.size()) {
    const StepProfile last = steps.back();
    steps.pop_back();
    steps.back().name = "the rest";
    steps.back().bytes += last.bytes;
    steps.back().flops += last.flops;
  }
  if (steps.size() < ms.size()) steps.resize(ms.size(), {"copies of outputs", 0, 0, 0, 0});
  const double total = std::accumulate(ms.begin(), ms.end(), 0.0);
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].ms = ms[i];
    steps[i].share = total > 0 ? ms[i] / total : 0;
  }
  return steps;
}

}  // namespace

void profile(client::JudgeClient& judge, const std::string& candidate_file,
             const EvaluateOptions& options, const std::string& preset, int runs,
             Evidence& evidence) {
  client::Request request{candidate_file, options, /*check_only=*/false, /*more=*/true};
  request.options.preset = preset;
  request.options.recorded.reset();
  request.profile_runs = runs;
  client::Findings findings;
  judge.run(request, {}, &findings);
  if (!findings.times) return;
  const Candidate candidate = load_candidate(candidate_file);
  const auto graph =
      build_graph(find_task(candidate.task), preset_from_name(preset), options.overrides);
  const ResolvedCandidate resolved = resolve(candidate, *graph);
  std::vector<StepProfile> steps, baseline;
  for (const ResolvedStep& step : resolved.dispatch) steps.push_back(of_step(resolved, step));
  if (steps.size() == 1 && steps[0].flops == 0) steps[0].flops = graph->flops();
  for (const Graph::Node& node : graph->nodes()) {
    if (node.call.op->is_view) continue;
    baseline.push_back({node.call.op->name, 0, 0, least_bytes(node.call), flops_of(node.call)});
  }
  evidence.steps = joined(std::move(steps), findings.times->candidate_ms);
  evidence.baseline = joined(std::move(baseline), findings.times->baseline_ms);
}

}  // namespace kbench::diagnose
