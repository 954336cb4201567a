// Which memory holds the tensors of which call, where a ModelNew is called several times in one
// run.
#pragma once

#include <cstddef>

#include "kbench/graph.h"

namespace kbench::runner {

/// Call 0 has the task's own tensors. Those of each later call stand in Built::wanted, its outputs,
/// then its inputs; here are their indices.
class CallTensors {
 public:
  explicit CallTensors(const Graph& graph)
      : outputs_(graph.outputs().size()), inputs_(graph.values_of(Graph::Kind::input).size()) {}

  size_t output(int call, size_t i) const { return first(call) + i; }
  size_t input(int call, size_t i) const { return first(call) + outputs_ + i; }
  /// Whether that is an input, by its index there.
  bool is_input(size_t wanted) const { return wanted % (outputs_ + inputs_) >= outputs_; }
  /// How many calls there is memory for.
  int calls(size_t wanted) const { return 1 + static_cast<int>(wanted / (outputs_ + inputs_)); }

 private:
  size_t first(int call) const { return static_cast<size_t>(call - 1) * (outputs_ + inputs_); }

  size_t outputs_, inputs_;
};

}  // namespace kbench::runner
