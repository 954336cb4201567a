// The plan of the main job: its evaluations, and which of them are done already.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/frontends/program/candidates.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/pool.h"
#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench::program {

/// One candidate set on one task.
struct Evaluation {
  std::string name;     ///< "level1/19_ReLU/simple"
  std::string file;     ///< path of the candidate; empty if the set has none
  std::string problem;  ///< why the candidate cannot be judged; empty if it can
  Experiment identity;
  std::optional<Result> result;
  bool done_before = false;  ///< `result` is from the output file
};

struct Job {
  Question asked;                               ///< of each candidate
  vulkan::DeviceSnapshot device;                ///< the first device
  std::vector<vulkan::DeviceSnapshot> devices;  ///< all devices
  Preset preset = Preset::smoke;
  std::vector<const Task*> tasks;
  std::vector<Evaluation> evaluations;  ///< by task, then by set
  std::vector<Result> unusable;         ///< files that belong to no task

  size_t done_before() const;
  TaskAt at(const Task& task) const {
    return task_at(task.id, preset, asked.overrides, asked.dtype);
  }
  std::vector<Result> results() const;  ///< the results so far
  /// Keeps only these evaluations, and their tasks.
  void keep(const std::function<bool(const Evaluation&)>& wanted);
};

/// Plans every set on every task. `asked.preset` becomes the resolved preset's name.
Job plan_job(const std::vector<const Task*>& tasks, const std::vector<CandidateSet>& sets,
             Preset preset, const std::vector<vulkan::DeviceSnapshot>& devices, Question asked);

/// --shard: part `index` of `count` of a list of experiments, for machines that do not communicate.
/// An experiment's part follows from the SHA-256 of its set and task, so every experiment is in
/// exactly one part, on every machine and beside any other experiments.
struct Shard {
  int index = 1;  ///< from 1 to count
  int count = 1;

  bool whole() const { return count == 1; }
};

/// Parses "2/8"; throws kInvalidArgument.
Shard parse_shard(const std::string& text);

/// Keeps only the shard's evaluations and their tasks. `unusable` files, which belong to no task,
/// stay in shard 1.
void keep_shard(const Shard& shard, Job& job);

/// Printed in place of the leaderboard, which needs all shards.
std::string shard_notice(const Shard& shard, size_t results);

/// Takes over results of an earlier run of the same experiments. Failures that were not the
/// candidate's are tried again.
void take_over(Job& job, std::span<const Result> earlier);

/// The result of an evaluation that needs no judge, because the candidate is missing or unusable.
std::optional<Result> result_without_judge(const Evaluation& evaluation);
/// The result of any other evaluation, from the pool's outcome.
Result result_of(const Evaluation& evaluation, Pool::Outcome outcome);

}  // namespace kbench::program
