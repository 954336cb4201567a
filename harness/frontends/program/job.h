// The main job laid out before it starts: which evaluations there are, and which are done already.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/evaluate/queue/queue.h"
#include "harness/frontends/program/candidate_sets.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/evaluate.h"
#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench::program {

/// One candidate set on one task.
struct Evaluation {
  std::string name;     ///< "level1/19_ReLU/simple"
  std::string file;     ///< the candidate; empty when the set has none
  std::string problem;  ///< why the candidate cannot be judged; mostly empty
  Experiment identity;
  std::optional<Result> result;
  bool done_before = false;  ///< `result` is from the output file
};

struct Job {
  EvaluateOptions options;
  vulkan::DeviceSnapshot device;                ///< the first
  std::vector<vulkan::DeviceSnapshot> devices;  ///< all of them
  Preset preset = Preset::smoke;
  std::vector<const Task*> tasks;
  std::vector<Evaluation> evaluations;  ///< by task, then by set
  std::vector<Result> unusable;         ///< files that belong to no task

  size_t done_before() const;
  TaskAt at(const Task& task) const { return task_at(task.id, preset, options.overrides); }
  std::vector<Result> results() const;  ///< of every evaluation that has one
};

/// Lays out every set on every task. `options.preset` becomes the preset's own name.
Job plan_job(const std::vector<const Task*>& tasks, const std::vector<CandidateSet>& sets,
             Preset preset, const std::vector<vulkan::DeviceSnapshot>& devices,
             EvaluateOptions options);

/// Takes over results of an earlier run where they are of the same experiment. Failures that were
/// not the candidate's are left to be tried again.
void take_over(Job& job, std::span<const Result> earlier);

/// The result of an evaluation that needs no judge: the candidate is missing, or cannot be used.
std::optional<Result> result_without_judge(const Evaluation& evaluation);
/// The result of any other, from what a queue says became of it.
Result result_of(const Evaluation& evaluation, queue::Outcome outcome);

}  // namespace kbench::program
