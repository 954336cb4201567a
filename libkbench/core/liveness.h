// Which values of a graph outputs need, which share memory through views, and for how long.
#pragma once

#include <vector>

#include "kbench/graph.h"

namespace kbench {

/// For each value the value whose memory it shares: itself or, through views, the one they show.
std::vector<int> memory_owners(const Graph& graph);

/// For each value that is an owner in `owner` (one entry a value), the last node that reads or
/// writes its memory, views included; the number of nodes where an output of the graph lies in it,
/// -1 where no node does anything with it. Entries of other values are -1.
std::vector<int> last_uses(const Graph& graph, const std::vector<int>& owner);

/// For each value whether an output of the graph depends on it.
std::vector<bool> needed_values(const Graph& graph);

}  // namespace kbench
