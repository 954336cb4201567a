#include "harness/frontends/program/shard.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "kbench/error.h"
#include "kbench/text.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/text.h"

namespace kbench::program {
namespace {

constexpr int kMostShards = 100000;

}  // namespace

bool Shard::takes(const Experiment& experiment) const {
  if (whole()) return true;
  // Not the candidate's bytes, sizes or device: an experiment must stay in its shard when a file is
  // edited or another machine resumes.
  const std::string hash = Sha256().add(experiment.set).add(to_string(experiment.task)).hex();
  uint64_t word = 0;
  std::from_chars(hash.data(), hash.data() + 16, word, 16);
  return word % static_cast<uint64_t>(count) == static_cast<uint64_t>(index - 1);
}

Shard parse_shard(const std::string& text) {
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
  std::erase_if(job.evaluations,
                [&](const Evaluation& evaluation) { return !shard.takes(evaluation.identity); });
  std::erase_if(job.tasks, [&](const Task* task) {
    return std::none_of(job.evaluations.begin(), job.evaluations.end(),
                        [&](const Evaluation& e) { return e.identity.task == task->id; });
  });
  if (shard.index != 1) job.unusable.clear();
}

std::string shard_notice(const Shard& shard, size_t results) {
  return "shard " + std::to_string(shard.index) + " of " + std::to_string(shard.count) + ": " +
         std::to_string(results) +
         " results; `kbench score FILES` makes the leaderboard of all shards' outputs\n";
}

}  // namespace kbench::program
