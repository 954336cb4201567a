// The program from which the listing and the PyTorch code are printed.
#pragma once

#include "harness/evaluate/prompts/program.h"

namespace kbench::prompts {

/// The graph, folded so that its listing is short.
Program folded(const Graph& graph);

}  // namespace kbench::prompts
