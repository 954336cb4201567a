#include "harness/frontends/program/job.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "harness/measure/trial/experiment.h"
#include "kbench/error.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/text.h"

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

void Job::keep(const std::function<bool(const Evaluation&)>& wanted) {
  std::erase_if(evaluations, [&](const Evaluation& evaluation) { return !wanted(evaluation); });
  std::erase_if(tasks, [&](const Task* task) {
    return std::ranges::none_of(evaluations,
                                [&](const Evaluation& e) { return e.identity.task == task->id; });
  });
}

Job plan_job(const std::vector<const Task*>& tasks, const std::vector<CandidateSet>& sets,
             Preset preset, const std::vector<vulkan::DeviceSnapshot>& devices, Question asked) {
  Job job;
  job.asked = std::move(asked);
  job.asked.preset = name_of(preset);
  job.device = devices.front();
  job.devices = devices;
  job.preset = preset;
  job.tasks = tasks;
  for (const Task* task : tasks) {
    const TaskAt at = job.at(*task);
    const auto graph = build_graph(at);
    for (const CandidateSet& set : sets) {
      Evaluation evaluation;
      evaluation.name = to_string(task->id) + "_" + task->name + "/" + set.name;
      trial::identify(evaluation.identity, at, *graph, job.device, job.asked);
      evaluation.identity.set = set.name;
      if (const auto entry = set.entries.find(task->id); entry != set.entries.end()) {
        evaluation.file = entry->second.file;
        evaluation.problem = entry->second.problem;
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

Shard parse_shard(const std::string& text) {
  constexpr int kMostShards = 100000;
  const size_t slash = text.find('/');
  Shard shard;
  const bool good =
      slash != text.npos && read_number(std::string_view(text).substr(0, slash), shard.index) &&
      read_number(std::string_view(text).substr(slash + 1), shard.count) && shard.count >= 1 &&
      shard.count <= kMostShards && shard.index >= 1 && shard.index <= shard.count;
  if (good) return shard;
  throw Error(ErrorCode::kInvalidArgument,
              "--shard takes I/N with I from 1 to N, as 1/8 to 8/8, not '" + shown(text) + "'");
}

void keep_shard(const Shard& shard, Job& job) {
  if (shard.whole()) return;
  job.keep([&](const Evaluation& evaluation) {
    // Not the candidate's bytes, sizes or device: an experiment must stay in its shard when a file
    // is edited or another machine resumes.
    const Experiment& of = evaluation.identity;
    const std::string hash = Sha256().add(of.set).add(to_string(of.task)).hex();
    uint64_t word = 0;
    std::from_chars(hash.data(), hash.data() + 16, word, 16);
    return word % static_cast<uint64_t>(shard.count) == static_cast<uint64_t>(shard.index - 1);
  });
  if (shard.index != 1) job.unusable.clear();
}

std::string shard_notice(const Shard& shard, size_t results) {
  return "shard " + std::to_string(shard.index) + " of " + std::to_string(shard.count) + ": " +
         std::to_string(results) +
         " results; `kbench report FILES` makes the leaderboard of all shards' outputs\n";
}

void take_over(Job& job, std::span<const Result> earlier) {
  std::map<std::string, const Result*> by_key;
  for (const Result& result : earlier) {
    if (result.verdict != Verdict::harness_error) by_key[result.key()] = &result;
  }
  for (Evaluation& evaluation : job.evaluations) {
    Experiment identity = evaluation.identity;
    for (const vulkan::DeviceSnapshot& device : job.devices) {
      trial::describe_device(identity, device, job.asked);
      const auto found = by_key.find(identity.key());
      if (found == by_key.end()) continue;
      evaluation.result = *found->second;
      evaluation.done_before = true;
      break;
    }
  }
}

std::optional<Result> result_without_judge(const Evaluation& evaluation) {
  Result result;
  static_cast<Experiment&>(result) = evaluation.identity;
  if (evaluation.file.empty()) {
    result.verdict = Verdict::missing;
    result.message =
        "set '" + result.set + "' has no candidate for " + to_string(evaluation.identity.task);
    return result;
  }
  if (evaluation.problem.empty()) return std::nullopt;
  result.verdict = Verdict::invalid_candidate;
  result.message = evaluation.problem;
  return result;
}

Result result_of(const Evaluation& evaluation, Pool::Outcome outcome) {
  Experiment known = evaluation.identity;
  Result result;
  if (outcome.result) {
    result = *std::move(outcome.result);
  } else {
    result.verdict = Verdict::harness_error;
    result.message = outcome.error ? outcome.error->what() : "cancelled";
  }
  // With the plan's identity, a resumed run recognises the result. Exceptions: the hash, as the
  // file may have been edited since, and the device if there are several.
  if (!result.candidate_hash.empty()) known.candidate_hash = result.candidate_hash;
  if (!result.device.empty()) {
    known.device = result.device;
    known.driver = result.driver;
    known.device_uuid = result.device_uuid;
    known.software_device = result.software_device;
  }
  static_cast<Experiment&>(result) = std::move(known);
  return result;
}

}  // namespace kbench::program
