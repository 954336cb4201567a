// Finds the mutants of the graph that compute what the candidate computed.
#pragma once

#include <string>
#include <vector>

#include "harness/evaluate/diagnose/look.h"

namespace kbench::diagnose {

struct Matches {
  std::vector<std::string> descriptions;  ///< mutants with the candidate's outputs
  int tried = 0, all = 0;
};

/// Runs mutants in float64 on the look's inputs until `most` match or the deadline has passed.
/// Elements that were not written are ignored; at least half must be written.
Matches matching_mutants(const Look& look, double relative, size_t most, const TimeLimit& deadline);

}  // namespace kbench::diagnose
