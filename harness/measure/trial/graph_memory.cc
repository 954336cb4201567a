#include "harness/measure/trial/graph_memory.h"

#include <algorithm>
#include <string>

#include "harness/measure/eager/eager.h"
#include "harness/measure/trial/slab_layout.h"
#include "kbench/error.h"

namespace kbench::trial {
namespace {

/// For each value id, whether the value has a buffer of its own.
std::vector<bool> own_buffers(const Graph& graph) {
  std::vector<bool> own;
  for (const Graph::ValueInfo& value : graph.values()) {
    own.push_back(value.kind != Graph::Kind::intermediate);
  }
  for (const int id : graph.outputs()) own[static_cast<size_t>(id)] = true;
  return own;
}

}  // namespace

uint64_t buffer_bytes(const TensorType& type) {
  const auto bytes = static_cast<uint64_t>(type.bytes());
  return std::max(align_tensor(bytes), kTensorAlignment);
}

uint64_t largest_half(const Graph& graph, DType dtype) {
  uint64_t most = 0;
  for (const auto kind : {Graph::Kind::input, Graph::Kind::parameter}) {
    for (const int id : graph.values_of(kind)) {
      const TensorType stored = graph.stored_type(id);
      if (is_half(stored.dtype)) most = std::max(most, buffer_bytes({dtype, stored.shape}));
    }
  }
  return most;
}

void require_memory(const vulkan::Device& device, const Graph& graph, uint64_t arena_bytes,
                    DType real) {
  uint64_t needed = arena_bytes;
  const std::vector<bool> own = own_buffers(graph);
  for (size_t id = 0; id < own.size(); ++id) {
    if (own[id]) needed += buffer_bytes(eager::stored_type(graph.values()[id].type, real));
  }
  const uint64_t available = device.available_bytes();
  if (needed <= available) return;
  throw Error(ErrorCode::kOutOfMemory, "needs " + gigabytes(needed) + " of device memory, " +
                                           device.snapshot().name + " has " + gigabytes(available) +
                                           " free");
}

GraphMemory::GraphMemory(vulkan::Device& device, const Graph& graph, uint64_t arena_bytes,
                         DType real)
    : real_(real), buffers_(graph.values().size()), regions_(graph.values().size()) {
  require_memory(device, graph, arena_bytes, real);
  const std::vector<bool> own = own_buffers(graph);
  for (size_t id = 0; id < own.size(); ++id) {
    if (!own[id]) continue;
    const TensorType type = eager::stored_type(graph.values()[id].type, real);
    buffers_[id] = device.allocate(buffer_bytes(type));
    regions_[id] = {&buffers_[id], 0, static_cast<uint64_t>(type.bytes())};
  }
  if (arena_bytes > 0) arena_ = device.allocate(arena_bytes);
}

vulkan::Region GraphMemory::arena() const {
  return arena_ ? vulkan::Region{&arena_, 0, arena_.size()} : vulkan::Region{};
}

}  // namespace kbench::trial
