// The program that listing and code are printed from.
#pragma once

#include "harness/evaluate/prompts/program.h"

namespace kbench::prompts {

/// The graph folded so that its listing is short.
Program folded(const Graph& graph);

}  // namespace kbench::prompts
