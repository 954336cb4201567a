// A whole graph on the device.
#include <algorithm>

#include "harness/measure/eager/eager.h"
#include "harness/measure/eager/graph_layout.h"
#include "kbench/error.h"

namespace kbench::eager {
namespace {

/// Every node's plan, in order; a view's is empty.
std::vector<CallPlan> plan_graph(const Graph& graph, const DeviceTraits& traits, DType real) {
  std::vector<CallPlan> plans;
  for (const Graph::Node& node : graph.nodes()) {
    plans.push_back(node.call.op->is_view ? CallPlan{} : plan_call(node.call, traits, real));
  }
  return plans;
}

std::vector<vulkan::EmbeddedKey> pipeline_keys(const std::vector<CallPlan>& plans) {
  std::vector<vulkan::EmbeddedKey> keys;
  for (const CallPlan& plan : plans) {
    for (const Launch& launch : plan.launches) keys.push_back(pipeline_key(launch));
  }
  return keys;
}

std::vector<int64_t> scratch_bytes_of(const std::vector<CallPlan>& plans) {
  std::vector<int64_t> bytes;
  for (const CallPlan& plan : plans) {
    bytes.push_back(plan.scratch_offset(plan.scratch_bytes.size()));
  }
  return bytes;
}

}  // namespace

EagerGraph::EagerGraph(vulkan::Device& device, const Graph& graph, DType real) {
  std::vector<CallPlan> plans = plan_graph(graph, traits_of(device.snapshot()), real);
  const std::vector<vulkan::EmbeddedKey> keys = pipeline_keys(plans);
  launches_ = keys.size();
  device.pipelines().prepare({}, keys);
  GraphLayout layout = lay_out(graph, scratch_bytes_of(plans), real);
  std::vector<size_t> nodes;
  for (size_t i = 0; i < plans.size(); ++i) {
    if (graph.nodes()[i].call.op->is_view) continue;
    calls_.push_back({PreparedCall(device, std::move(plans[i])), {}, {}, 0});
    nodes.push_back(i);
  }
  for (size_t i = 0; i < calls_.size(); ++i) {
    const Graph::Node& node = graph.nodes()[nodes[i]];
    for (const int id : node.inputs) calls_[i].inputs.push_back(layout.root[id]);
    for (const int id : node.outputs) calls_[i].outputs.push_back(layout.root[id]);
    calls_[i].scratch_offset = std::max<int64_t>(0, layout.scratch[nodes[i]]);
  }
  for (const Graph::ValueInfo& value : graph.values()) {
    bytes_.push_back(stored_type(value.type, real).bytes());
  }
  offset_ = std::move(layout.offset);
  copies_ = std::move(layout.copies);
  arena_bytes_ = layout.arena_bytes;
}

std::vector<vulkan::EmbeddedKey> EagerGraph::pipelines(const Graph& graph,
                                                       const DeviceTraits& traits, DType real) {
  return pipeline_keys(plan_graph(graph, traits, real));
}

uint64_t EagerGraph::arena_bytes() const { return arena_bytes_; }

size_t EagerGraph::launches() const { return launches_; }

uint64_t EagerGraph::arena_bytes(const Graph& graph, const DeviceTraits& traits, DType real) {
  return lay_out(graph, scratch_bytes_of(plan_graph(graph, traits, real)), real).arena_bytes;
}

void EagerGraph::record(vulkan::Commands& commands, const std::vector<vulkan::Region>& values,
                        vulkan::Region arena, const std::function<void()>& after_step) const {
  if (arena.size < arena_bytes_) {
    throw Error(ErrorCode::kInternal, "an arena of " + std::to_string(arena.size) +
                                          " bytes where " + std::to_string(arena_bytes_) +
                                          " are needed");
  }
  const auto region = [&](int id) -> vulkan::Region {
    if (offset_[id] < 0) return values.at(id);
    return {arena.buffer, arena.offset + offset_[id], static_cast<uint64_t>(bytes_[id])};
  };
  const auto regions = [&](const std::vector<int>& ids) {
    std::vector<vulkan::Region> list;
    for (const int id : ids) list.push_back(region(id));
    return list;
  };
  bool first = true;
  for (const Placed& placed : calls_) {
    if (!first) commands.barrier();
    first = false;
    const vulkan::Region scratch{arena.buffer, arena.offset + placed.scratch_offset,
                                 static_cast<uint64_t>(placed.call.scratch_bytes())};
    placed.call.record(commands, regions(placed.inputs), regions(placed.outputs), scratch);
    if (after_step) after_step();
  }
  if (!copies_.empty() && !first) commands.barrier();
  for (const auto& [from, to] : copies_) {
    if (bytes_[to] == 0) continue;
    const vulkan::Region source = region(from), target = values.at(to);
    commands.copy(*source.buffer, source.offset, *target.buffer, target.offset, bytes_[to]);
  }
  if (!copies_.empty() && after_step) after_step();
}

}  // namespace kbench::eager
