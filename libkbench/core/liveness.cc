#include "libkbench/core/liveness.h"

#include <algorithm>
#include <cstddef>

namespace kbench {

std::vector<int> memory_owners(const Graph& graph) {
  std::vector<int> owner(graph.values().size());
  for (size_t id = 0; id < owner.size(); ++id) owner[id] = static_cast<int>(id);
  for (const Graph::Node& node : graph.nodes()) {
    if (node.call.op->is_view) owner[node.outputs[0]] = owner[node.inputs[0]];
  }
  return owner;
}

std::vector<int> last_uses(const Graph& graph, const std::vector<int>& owner) {
  const auto& nodes = graph.nodes();
  std::vector<int> last(owner.size(), -1);
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (const auto* ids : {&nodes[n].inputs, &nodes[n].outputs}) {
      for (const int id : *ids) last[owner[id]] = static_cast<int>(n);
    }
  }
  for (const int id : graph.outputs()) last[owner[id]] = static_cast<int>(nodes.size());
  return last;
}

std::vector<bool> needed_values(const Graph& graph) {
  std::vector<bool> needed(graph.values().size());
  for (const int id : graph.outputs()) needed[static_cast<size_t>(id)] = true;
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    const Graph::Node& node = graph.nodes()[i];
    const auto is_needed = [&](int id) { return needed[static_cast<size_t>(id)]; };
    if (std::ranges::none_of(node.outputs, is_needed)) continue;
    for (const int id : node.inputs) needed[static_cast<size_t>(id)] = true;
  }
  return needed;
}

}  // namespace kbench
