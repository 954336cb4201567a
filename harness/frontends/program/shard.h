// --shard: one of N parts of a list of experiments, for N machines that know nothing of each other.
#pragma once

#include <string>

#include "harness/frontends/program/job.h"
#include "kbench/result.h"

namespace kbench::program {

/// Part `index` of `count`. A part holds the experiments whose SHA-256 of set and task falls to it:
/// every experiment is in exactly one, whichever others are in the list, and on whichever machine,
/// device or version of a candidate.
struct Shard {
  int index = 1;  ///< from 1 to count
  int count = 1;

  bool whole() const { return count == 1; }
  bool takes(const Experiment& experiment) const;
};

/// "2/8"; throws kInvalidArgument.
Shard parse_shard(const std::string& text);

/// Leaves only the shard's evaluations, and their tasks. `unusable` files, which belong to no task,
/// stay with shard 1.
void keep_shard(const Shard& shard, Job& job);

/// What stands in the place of the leaderboard: it is of all shards.
std::string shard_notice(const Shard& shard, size_t results);

}  // namespace kbench::program
