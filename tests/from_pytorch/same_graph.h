// Whether two graphs compute the same in the same steps.
#pragma once

#include <string>

#include "kbench/graph.h"

namespace kbench {

struct SameGraphOptions {
  bool distributions = true;  ///< inputs and parameters are drawn alike, too
  /// Reshapes after one another count as one, one that changes nothing as none, and operands of
  /// sums and products may be exchanged.
  bool up_to_views = false;
};

/// Compares what outputs depend on, up to the names of tensors and the order of independent steps;
/// empty, or the first difference.
std::string difference_of(const Graph& a, const Graph& b, const SameGraphOptions& options = {});

}  // namespace kbench
