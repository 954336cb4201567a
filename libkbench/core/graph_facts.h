// What a graph alone says: the least work of a right kernel, which values share memory and for how
// long, kinds of operators.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "kbench/graph.h"
#include "kbench/ops.h"

namespace kbench {

/// The least bytes and operations that a right kernel of a task needs, by any algorithm.
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

/// For each value the value whose memory it shares: itself or, through views, the one they show.
std::vector<int> memory_owners(const Graph& graph);

/// For each value that is an owner in `owner` (one entry a value), the last node that reads or
/// writes its memory, views included; the number of nodes where an output of the graph lies in it,
/// -1 where no node does anything with it. Entries of other values are -1.
std::vector<int> last_uses(const Graph& graph, const std::vector<int>& owner);

/// For each value whether an output of the graph depends on it.
std::vector<bool> needed_values(const Graph& graph);

bool is_one_of(const std::string& name, std::initializer_list<const char*> names);
bool is_convolution(const Operator& op);  ///< conv1d and so on, conv_transpose1d and so on
/// The extents of a convolution's window.
Shape convolution_window(const OperatorCall& call);
bool is_product(const Operator& op);    ///< linear, matmul, a convolution
bool is_recurrent(const Operator& op);  ///< lstm, gru
bool is_norm(const Operator& op);       ///< batch_norm, instance_norm, group_norm, layer_norm
/// How many elements each of a norm's statistics is over.
int64_t terms_of_statistics(const Graph::Node& node);

}  // namespace kbench
