// Reads a folded listing back, line by line, as its reader has to: every operator that it stands
// for is held against the graph's next node.
#pragma once

#include <string>

#include "kbench/task.h"

namespace kbench::test {

/// Empty where the listing says the graph's operators in their order, with operands, attributes and
/// types, and every input, parameter, constant and output by name with its shape; else what is
/// wrong, with the line.
std::string unfold(const std::string& listing, const Task& task, const Graph& graph);

}  // namespace kbench::test
