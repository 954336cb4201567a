// When memory comes and goes while the reference runs a graph: decided before it runs, so that the
// peak is known without running.
#pragma once

#include <cstdint>
#include <vector>

#include "kbench/graph.h"
#include "kbench/reference.h"

namespace kbench::reference {

/// What happens around one node.
struct NodeMemory {
  std::vector<int> convert;  ///< given float32 values to make float64 before the node runs
  bool in_place = false;     ///< the output takes the first input's memory
  std::vector<int> release;  ///< values to drop afterwards: nothing reads their memory any more
};

struct Schedule {
  std::vector<NodeMemory> nodes;     ///< one a node
  std::vector<int> convert_outputs;  ///< outputs that are given values, to convert at the end
  int64_t peak_bytes = 0;
};

/// A value's type as the reference holds it at that precision.
TensorType held_type(const TensorType& type, Precision precision);

Schedule make_schedule(const Graph& graph, Precision precision);

}  // namespace kbench::reference
