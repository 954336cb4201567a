#include "harness/measure/eager/graph_layout.h"

#include <algorithm>

#include "harness/measure/eager/eager.h"
#include "libkbench/core/graph_facts.h"

namespace kbench::eager {

int64_t Arena::allocate(int64_t bytes) {
  bytes = std::max(aligned(bytes), kAlignment);
  int64_t offset = 0;
  for (const auto& [begin, size] : blocks_) {
    if (begin - offset >= bytes) break;
    offset = begin + size;
  }
  blocks_.emplace(offset, bytes);
  high_water_ = std::max(high_water_, offset + bytes);
  return offset;
}

void Arena::release(int64_t offset) { blocks_.erase(offset); }

namespace {

/// Lets a computed value that is an output, or that an output shows, live in that output's memory;
/// outputs left without memory of their own become copies.
void place_outputs(const Graph& graph, GraphLayout& layout) {
  std::vector<int> home(layout.root.size());
  for (size_t id = 0; id < home.size(); ++id) home[id] = static_cast<int>(id);
  std::vector<bool> placed(home.size(), false);
  for (const int id : graph.outputs()) {
    const int viewed = layout.root[id];
    if (placed[viewed] || graph.values()[viewed].kind != Graph::Kind::intermediate) continue;
    home[viewed] = id;
    placed[viewed] = true;
  }
  for (int& root : layout.root) root = home[root];
  std::vector<bool> done(home.size(), false);
  for (const int id : graph.outputs()) {
    if (layout.root[id] != id && !done[id]) layout.copies.emplace_back(layout.root[id], id);
    done[id] = true;
  }
}

}  // namespace

GraphLayout lay_out(const Graph& graph, const std::vector<int64_t>& scratch_bytes, DType real) {
  const auto& nodes = graph.nodes();
  GraphLayout layout;
  layout.root = memory_owners(graph);
  place_outputs(graph, layout);
  layout.offset.assign(layout.root.size(), -1);
  layout.scratch.assign(nodes.size(), -1);

  std::vector<bool> outside(layout.root.size(), false);  // memory given by the caller
  for (const int id : graph.outputs()) outside[id] = true;
  const std::vector<int> last_use = last_uses(graph, layout.root);
  std::vector<std::vector<int>> expire(nodes.size());
  Arena arena;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].call.op->is_view) {
      for (const int id : nodes[i].outputs) {
        const int root = layout.root[id];
        if (outside[root] || layout.offset[root] >= 0) continue;
        layout.offset[root] = arena.allocate(stored_type(graph.values()[id].type, real).bytes());
        expire[last_use[root]].push_back(root);
      }
      if (scratch_bytes[i] > 0) layout.scratch[i] = arena.allocate(scratch_bytes[i]);
    }
    if (layout.scratch[i] >= 0) arena.release(layout.scratch[i]);
    for (const int root : expire[i]) arena.release(layout.offset[root]);
  }
  layout.arena_bytes = arena.high_water();
  return layout;
}

}  // namespace kbench::eager
