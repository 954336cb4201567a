// The program from which the listing and the PyTorch code are printed.
#pragma once

#include <map>
#include <string>

#include "libkbench/listing/program.h"

namespace kbench::listing {

/// The graph, folded so that its listing is short.
Program folded(const Graph& graph);

/// What Python's programs call the inputs, by value id: their names, but for those that Python or
/// the programs have a meaning for, which get a '_'.
std::map<int, std::string> inputs_in_python(const Graph& graph);

}  // namespace kbench::listing
