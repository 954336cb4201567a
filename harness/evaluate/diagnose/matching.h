// Which mutant of the graph computes what the candidate computed.
#pragma once

#include <string>
#include <vector>

#include "harness/evaluate/diagnose/look.h"

namespace kbench::diagnose {

struct Matches {
  std::vector<std::string> descriptions;  ///< of mutants whose outputs are the candidate's
  int tried = 0, all = 0;
};

/// Runs mutants on the look's inputs, in float64, until `most` match or the deadline has passed. An
/// element that was never written counts neither way; half of them have to be.
Matches matching_mutants(const Look& look, double relative, size_t most, const TimeLimit& deadline);

}  // namespace kbench::diagnose
