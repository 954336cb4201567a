#include "harness/measure/trial/eager_run.h"

#include <algorithm>
#include <string>

#include "harness/measure/eager/eager.h"
#include "harness/measure/trial/device_draw.h"
#include "harness/measure/trial/slab_layout.h"
#include "kbench/compare.h"
#include "kbench/error.h"
#include "kbench/reference.h"

namespace kbench::trial {

namespace {

constexpr double kRunSeconds = 120;

const Tensor& find(const std::map<std::string, Tensor>& tensors, const Graph::ValueInfo& value) {
  const auto found = tensors.find(value.name);
  if (found == tensors.end()) {
    throw Error(ErrorCode::kNotFound, "no tensor " + value.name + " was given");
  }
  if (found->second.type() != value.type) {
    throw Error(ErrorCode::kShape, "tensor " + value.name + " is " +
                                       to_string(found->second.type()) + ", the task takes " +
                                       to_string(value.type));
  }
  return found->second;
}

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

void place_tensors(vulkan::Device& device, vulkan::Commands& commands, const Graph& graph,
                   const GraphMemory& memory, const PlaceTensor& place) {
  for (size_t id = 0; id < graph.values().size(); ++id) {
    const Graph::ValueInfo& value = graph.values()[id];
    if (value.kind == Graph::Kind::constant) {
      const DType stored = eager::stored_dtype(value.type.dtype, memory.real());
      const bool as_it_is = stored == value.type.dtype;
      upload(device, as_it_is ? value.data : value.data.converted(stored), memory.values()[id]);
    } else if (value.kind != Graph::Kind::intermediate) {
      place(value, commands, memory.values()[id]);
    }
  }
}

std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph,
                              const PlaceTensor& place) {
  const eager::EagerGraph baseline(device, graph);
  const GraphMemory memory(device, graph, baseline.arena_bytes());
  vulkan::Commands commands(device);
  commands.begin();
  place_tensors(device, commands, graph, memory, place);
  commands.barrier();
  baseline.record(commands, memory.values(), memory.arena());
  commands.submit_and_wait(kRunSeconds);

  std::vector<Tensor> outputs;
  for (const int id : graph.outputs()) {
    const auto index = static_cast<size_t>(id);
    Tensor output(graph.values()[index].type);
    device.download(*memory.values()[index].buffer, 0,
                    {output.raw(), static_cast<size_t>(output.bytes())});
    outputs.push_back(std::move(output));
  }
  return outputs;
}

std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph,
                              const std::map<std::string, Tensor>& tensors) {
  return run_eager(device, graph,
                   [&](const Graph::ValueInfo& value, vulkan::Commands&, const vulkan::Region& to) {
                     upload(device, find(tensors, value), to);
                   });
}

std::string baseline_fault(vulkan::Device& device, const Task& task, const Graph& graph,
                           uint64_t seed) {
  const NamedTensors tensors = draw_tensors(graph, task.id, seed);
  const std::vector<Tensor> got = run_eager(device, graph, tensors);
  ReferenceOptions options;
  options.precision = Precision::f64;
  const std::vector<Tensor> truth = run_reference(graph, tensors, options);
  for (size_t i = 0; i < truth.size(); ++i) {
    const Comparison found = compare(got[i], truth[i], task.tolerance.relative);
    if (!found.passed()) {
      return graph.output_name(i) + ": " +
             describe(found, truth[i].shape(), task.tolerance.relative);
    }
  }
  return "";
}

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
