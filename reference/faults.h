// Right values that judge no candidate: NaN, infinite ones, and outputs that are always the same.
#pragma once

#include <string>
#include <vector>

#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::reference {

/// What is wrong with a graph's right values.
struct ValueFaults {
  /// "output is NaN at 12 of 24 elements: sqrt of x (operator 1 of 3) makes them". Nothing can be
  /// compared with it. Empty: no output has NaN.
  std::string not_a_number = {};
  /// The same of infinite values, and outputs that are the same for all draws. A check holds
  /// candidates to them, and sees little.
  std::vector<std::string> suspicious = {};
};

/// Draws the graph's tensors twice and computes its outputs in float64.
ValueFaults faults_of_values(const Graph& graph, const TaskId& task);

/// ValueFaults::not_a_number of a task of one's own at preset smoke, as far as that is small:
/// looked for before a device is, in milliseconds. kbench's own tasks have none.
std::string not_a_number(const Task& task);
/// Throws kInvalidArgument with that.
void require_numbers(const Task& task);

}  // namespace kbench::reference
