#include "harness/program/job.h"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "harness/worker/experiment.h"

namespace kbench::program {

size_t Job::done_before() const {
  return static_cast<size_t>(std::count_if(evaluations.begin(), evaluations.end(),
                                           [](const Evaluation& e) { return e.done_before; }));
}

std::vector<Result> Job::results() const {
  std::vector<Result> results;
  for (const Evaluation& evaluation : evaluations) {
    if (evaluation.result) results.push_back(*evaluation.result);
  }
  return results;
}

Job plan_job(const std::vector<const Task*>& tasks, const std::vector<CandidateSet>& sets,
             Preset preset, const vulkan::DeviceSnapshot& device, EvaluateOptions options) {
  Job job;
  job.options = std::move(options);
  job.options.preset = name_of(preset);
  job.device = device;
  job.preset = preset;
  job.tasks = tasks;
  for (const Task* task : tasks) {
    const auto graph = build_graph(*task, preset, job.options.overrides);
    for (const CandidateSet& set : sets) {
      Evaluation evaluation;
      evaluation.name = to_string(task->id) + "_" + task->name + "/" + set.name;
      worker::identify(evaluation.identity, *task, *graph, preset, device, job.options);
      evaluation.identity.set = set.name;
      if (const auto entry = set.entries.find(task->id); entry != set.entries.end()) {
        evaluation.file = entry->second.file;
        evaluation.identity.candidate = entry->second.relative;
        evaluation.identity.candidate_hash = entry->second.hash;
      }
      job.evaluations.push_back(std::move(evaluation));
    }
  }
  for (const CandidateSet& set : sets) {
    job.unusable.insert(job.unusable.end(), set.unusable.begin(), set.unusable.end());
  }
  return job;
}

void take_over(Job& job, std::span<const Result> earlier) {
  std::map<std::string, const Result*> by_key;
  for (const Result& result : earlier) {
    if (result.verdict != Verdict::harness_error) by_key[result.key()] = &result;
  }
  for (Evaluation& evaluation : job.evaluations) {
    const auto found = by_key.find(evaluation.identity.key());
    if (found == by_key.end()) continue;
    evaluation.result = *found->second;
    evaluation.done_before = true;
  }
}

void run_evaluation(const Job& job, Evaluation& evaluation) {
  const Result& known = evaluation.identity;
  Result result = known;
  if (evaluation.file.empty()) {
    result.verdict = Verdict::missing;
    result.message = "set '" + known.set + "' has no candidate for " + to_string(known.task);
    evaluation.result = std::move(result);
    return;
  }
  try {
    result = evaluate(evaluation.file, job.options);
  } catch (const std::exception& e) {
    result.verdict = Verdict::harness_error;
    result.message = e.what();
  }
  // The plan's identity, so that a resumed run recognises the record; but for the hash, as the file
  // may have been edited since.
  result.set = known.set;
  result.candidate = known.candidate;
  if (result.candidate_hash.empty()) result.candidate_hash = known.candidate_hash;
  result.task = known.task;
  result.task_name = known.task_name;
  result.preset = known.preset;
  result.variables = known.variables;
  result.device = known.device;
  result.driver = known.driver;
  result.software_device = known.software_device;
  result.baseline = known.baseline;
  result.settings = known.settings;
  result.version = known.version;
  evaluation.result = std::move(result);
}

}  // namespace kbench::program
