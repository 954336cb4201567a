#include "libkbench/core/liveness.h"

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

}  // namespace kbench
