// Which values of a graph share memory through views, and how long that memory is needed.
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

}  // namespace kbench
