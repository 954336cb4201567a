// --shard: splits a list of experiments into N parts, for N machines that do not communicate.
#pragma once

#include <string>

#include "harness/frontends/program/job.h"
#include "kbench/result.h"

namespace kbench::program {

/// Part `index` of `count`. An experiment's part follows from the SHA-256 of its set and task, so
/// every experiment is in exactly one part, on every machine and beside any other experiments.
struct Shard {
  int index = 1;  ///< from 1 to count
  int count = 1;

  bool whole() const { return count == 1; }
  bool takes(const Experiment& experiment) const;
};

/// Parses "2/8"; throws kInvalidArgument.
Shard parse_shard(const std::string& text);

/// Keeps only the shard's evaluations and their tasks. `unusable` files, which belong to no task,
/// stay in shard 1.
void keep_shard(const Shard& shard, Job& job);

/// Printed in place of the leaderboard, which needs all shards.
std::string shard_notice(const Shard& shard, size_t results);

}  // namespace kbench::program
