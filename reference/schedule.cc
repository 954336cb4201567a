#include "reference/schedule.h"

#include <algorithm>

#include "libkbench/core/graph_facts.h"
#include "reference/call.h"

namespace kbench::reference {
namespace {

/// Follows the bytes held as a schedule is made.
class Account {
 public:
  void take(int64_t bytes) { peak_ = std::max(peak_, held_ += bytes); }
  void give(int64_t bytes) { held_ -= bytes; }
  int64_t peak() const { return peak_; }

 private:
  int64_t held_ = 0, peak_ = 0;
};

}  // namespace

TensorType held_type(const TensorType& type, Precision precision) {
  TensorType held = type;
  if (precision == Precision::f64 && type.dtype == DType::f32) held.dtype = DType::f64;
  return held;
}

Schedule make_schedule(const Graph& graph, Precision precision) {
  const auto& values = graph.values();
  const auto& nodes = graph.nodes();
  const int forever = static_cast<int>(nodes.size());
  const std::vector<int> owner = memory_owners(graph);
  const auto held_bytes = [&](int id) { return held_type(values[id].type, precision).bytes(); };

  const std::vector<int> last = last_uses(graph, owner);
  std::vector<std::vector<int>> released(nodes.size());
  for (size_t id = 0; id < values.size(); ++id) {
    const int n = last[owner[id]];
    if (n >= 0 && n < forever) released[n].push_back(static_cast<int>(id));
  }

  Schedule schedule;
  Account account;
  std::vector<bool> given(values.size()), converted(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    given[i] = values[i].kind != Graph::Kind::intermediate;
    if (given[i]) account.take(values[i].type.bytes());
  }
  const auto convert = [&](int id, std::vector<int>& list) {
    if (!given[id] || converted[id] || held_type(values[id].type, precision) == values[id].type) {
      return;
    }
    converted[id] = true;
    list.push_back(id);
    account.take(held_bytes(id));
    account.give(values[id].type.bytes());
  };

  for (int n = 0; n < forever; ++n) {
    const Graph::Node& node = nodes[n];
    NodeMemory& stage = schedule.nodes.emplace_back();
    for (int id : node.inputs) convert(id, stage.convert);
    const int first = owner[node.inputs[0]];
    if (!node.call.op->is_view) {
      const auto readers = std::count_if(node.inputs.begin(), node.inputs.end(),
                                         [&](int id) { return owner[id] == first; });
      stage.in_place = find_implementation(node.call.op->name).in_place && !given[first] &&
                       last[first] == n && readers == 1 &&
                       values[node.inputs[0]].type == values[node.outputs[0]].type;
      for (int id : node.outputs) {
        if (!stage.in_place) account.take(held_bytes(id));
      }
    }
    stage.release = released[n];
    for (int id : stage.release) {
      const bool moved_on = stage.in_place && id == first;
      if (owner[id] == id && !moved_on) account.give(held_bytes(id));
    }
  }
  for (int id : graph.outputs()) convert(owner[id], schedule.convert_outputs);
  schedule.peak_bytes = account.peak();
  return schedule;
}

}  // namespace kbench::reference
