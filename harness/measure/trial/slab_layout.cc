#include "harness/measure/trial/slab_layout.h"

#include <utility>

#include "harness/measure/eager/eager.h"
#include "harness/measure/vulkan/plan.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench::trial {

size_t SlabLayout::add(std::string name, uint64_t bytes) {
  constexpr uint64_t kMost = uint64_t{1} << 62;
  bytes = place_bytes(bytes);
  if (bytes > kMost || size_ > kMost) {
    throw Error(ErrorCode::kShape, name + " and what stands before it have over 2^62 bytes");
  }
  const uint64_t offset = align_tensor(items_.empty() ? kRedzoneBytes : size_);
  items_.push_back({std::move(name), offset, bytes});
  size_ = align_tensor(items_.back().end() + kRedzoneBytes);
  return items_.size() - 1;
}

TaskLayout::TaskLayout(const Graph& graph, uint64_t arena_bytes) {
  const auto add = [](SlabLayout& layout, const std::string& name, const TensorType& type) {
    layout.add(name, static_cast<uint64_t>(type.bytes()));
  };
  for (const Graph::ValueInfo& value : graph.values()) {
    if (value.kind == Graph::Kind::intermediate) continue;
    add(given, value.name, graph.stored(value.type));
    if (is_half(graph.dtype())) add(wide, value.name, value.type);
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const int id = graph.outputs()[i];
    add(truth, graph.output_name(i), graph.value(id).type);
    add(outputs, graph.output_name(i), graph.stored_type(id));
  }
  if (arena_bytes > 0) arena.add("arena", arena_bytes);
}

uint64_t TaskLayout::bytes() const {
  return given.bytes() + wide.bytes() + truth.bytes() + arena.bytes() + outputs.bytes();
}

uint64_t required_bytes(const Graph& graph, const vulkan::DeviceSnapshot& snapshot) {
  const uint64_t arena = eager::EagerGraph::arena_bytes(graph, eager::traits_of(snapshot));
  return TaskLayout(graph, arena).bytes() + 2 * vulkan::plan_device(snapshot).flush_bytes;
}

std::string gigabytes(uint64_t bytes) {
  return digits_text(static_cast<double>(bytes) * 1e-9, 3) + " GB";
}

}  // namespace kbench::trial
