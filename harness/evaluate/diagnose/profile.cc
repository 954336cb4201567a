#include <algorithm>
#include <numeric>
#include <set>

#include "harness/evaluate/diagnose/steps.h"
#include "kbench/candidate.h"
#include "kbench/error.h"
#include "kbench/task.h"

namespace kbench::diagnose {
namespace {

double flops_of(const OperatorCall& call) { return call.op->flops ? call.op->flops(call) : 0; }

StepProfile of_step(const ResolvedCandidate& candidate, const ResolvedStep& step,
                    const Graph& graph) {
  StepProfile profile;
  if (step.kernel < 0) {
    profile.name = step.call.op->name + " (built in)";
    profile.bytes = least_bytes(graph.stored(step.call));
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

/// The launches of a dispatch list, and the step of each.
struct Launches {
  std::vector<StepProfile> profiles;
  std::vector<size_t> steps;
};

/// Launches whose sizes depend on the device have a name only; empty if a repeat count does.
Launches launches_of(const Candidate& candidate, const Graph& graph) {
  Launches launches;
  try {
    const ResolvedCandidate resolved = resolve(candidate, graph);
    for (const ResolvedStep& step : resolved.dispatch) {
      launches.profiles.push_back(of_step(resolved, step, graph));
      launches.steps.push_back(step.step);
    }
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUnsupported) throw;
    for (const Step& step : candidate.dispatch) {
      if (!step.repeats.empty()) return {};
      launches.steps.push_back(launches.profiles.size());
      launches.profiles.push_back(
          {step.kind == Step::Kind::op ? step.op : step.kernel, 0, 0, 0, 0});
    }
  }
  return launches;
}

/// Joins times and descriptions; if there are fewer times, the last one covers the rest.
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

/// Sums the launches of each step, except "the rest" and those without a step.
std::vector<StepProfile> gathered(const std::vector<StepProfile>& launches,
                                  const std::vector<size_t>& step_of) {
  struct Gathered {
    StepProfile profile;
    size_t launches = 0;
  };
  std::vector<Gathered> all;
  std::map<size_t, size_t> places;  // step -> index in `all`
  const size_t told_apart = launches.size() < step_of.size() ? launches.size() - 1 : step_of.size();
  for (size_t i = 0; i < launches.size(); ++i) {
    const auto [known, added] =
        places.emplace(i < told_apart ? step_of[i] : step_of.size() + i, all.size());
    if (added) all.push_back({StepProfile{launches[i].name, 0, 0, 0, 0}, 0});
    Gathered& step = all[known->second];
    ++step.launches;
    step.profile.ms += launches[i].ms;
    step.profile.share += launches[i].share;
    step.profile.bytes += launches[i].bytes;
    step.profile.flops += launches[i].flops;
  }
  std::vector<StepProfile> profiles;
  for (Gathered& step : all) {
    if (step.launches > 1) step.profile.name += " (x " + std::to_string(step.launches) + ")";
    profiles.push_back(std::move(step.profile));
  }
  return profiles;
}

}  // namespace

void profile(client::JudgeClient& judge, const Question& question, const std::string& preset,
             int runs, Evidence& evidence) {
  judge::EvaluateRequest request{.question = question, .more = true};
  request.question.preset = preset;
  request.question.recorded.reset();
  request.profile_runs = runs;
  judge::Findings findings;
  judge.run(request, {}, &findings);
  if (!findings.times) return;
  const Candidate candidate = candidate_of(question.candidate);
  const auto graph =
      build_graph(TaskAt{candidate.task, preset, question.overrides, question.dtype});
  std::vector<StepProfile> baseline;
  Launches launches = launches_of(candidate, *graph);
  std::vector<StepProfile>& steps = launches.profiles;
  if (steps.size() == 1 && steps[0].flops == 0) steps[0].flops = graph->flops();
  // What is timed is the baseline that computes the truth: in float32, also in a task of halves.
  for (const Graph::Node& node : graph->nodes()) {
    if (node.call.op->is_view) continue;
    baseline.push_back({node.call.op->name, 0, 0, least_bytes(node.call), flops_of(node.call)});
  }
  evidence.steps = gathered(joined(std::move(steps), findings.times->candidate_ms), launches.steps);
  evidence.baseline = joined(std::move(baseline), findings.times->baseline_ms);
}

}  // namespace kbench::diagnose
