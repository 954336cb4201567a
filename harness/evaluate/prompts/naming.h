// Variables for the results of a program's lines.
#pragma once

#include "harness/evaluate/prompts/program.h"

namespace kbench::prompts {

/// Fills in operands, results, copies, variables and outputs of a program whose lines have their
/// nodes. False where no variables make it compute the graph; the program is then of no use.
bool name_variables(const Graph& graph, Program& program);

}  // namespace kbench::prompts
