// The least bytes and operations that a right kernel of a task needs, by any algorithm.
#pragma once

#include "kbench/graph.h"

namespace kbench {

struct LeastWork {
  /// Of inputs, parameters and constants every element of which changes an output.
  double read_bytes = 0;
  double written_bytes = 0;  ///< of outputs
  /// Of products of inputs and parameters whose every element changes an element of an output of
  /// its own: half of a matrix product's operations (several levels of Strassen's algorithm save
  /// less), and of a convolution one multiplication for each output, input channel and output
  /// channel, as transforms of its window may make the rest cheap (Winograd 1980).
  double flops = 0;
};

/// By the graph alone: it knows no values. A task whose outputs can be known from less, as a sum
/// over a softmax, needs less than this says.
LeastWork least_work(const Graph& graph);

}  // namespace kbench
