// Names variables for the results of a program's lines.
#pragma once

#include "libkbench/listing/program.h"

namespace kbench::listing {

/// Fills in operands, results, copies, variables and outputs of a program whose lines have their
/// nodes. False if no variables make the program compute the graph; it must then not be used.
bool name_variables(const Graph& graph, Program& program);

}  // namespace kbench::listing
