// The program from which the listing and the PyTorch code are printed.
#pragma once

#include "libkbench/listing/program.h"

namespace kbench::listing {

/// The graph, folded so that its listing is short.
Program folded(const Graph& graph);

}  // namespace kbench::listing
