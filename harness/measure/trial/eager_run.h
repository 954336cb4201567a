// Runs the eager baseline once, and compares it with the float64 reference, so that a driver's bug
// is not taken for the candidate's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::trial {

/// Bytes of a buffer for one tensor.
uint64_t buffer_bytes(const TensorType& type);
/// Bytes of the largest input or parameter that is stored as a half, if it were of `dtype`; 0: none
/// is.
uint64_t largest_half(const Graph& graph, DType dtype);
/// Throws kOutOfMemory, with the bytes needed and available, if the device has not enough for the
/// graph, its floats stored as `real`, and an arena of that size.
void require_memory(const vulkan::Device& device, const Graph& graph, uint64_t arena_bytes,
                    DType real = DType::f32);

/// A buffer for each input, parameter, constant and output, and the arena.
class GraphMemory {
 public:
  /// Throws as require_memory() does, before the first allocation.
  GraphMemory(vulkan::Device& device, const Graph& graph, uint64_t arena_bytes,
              DType real = DType::f32);

  /// By value id; empty for intermediates, which lie in the arena.
  const std::vector<vulkan::Region>& values() const { return regions_; }
  vulkan::Region arena() const;
  DType real() const { return real_; }  ///< what floats are stored as

 private:
  DType real_;
  std::vector<vulkan::Buffer> buffers_;
  std::vector<vulkan::Region> regions_;
  vulkan::Buffer arena_;
};

/// Writes an input or parameter to the device, or records that.
using PlaceTensor =
    std::function<void(const Graph::ValueInfo&, vulkan::Commands&, const vulkan::Region&)>;
/// Uploads the graph's constants and calls `place` for its inputs and parameters.
void place_tensors(vulkan::Device& device, vulkan::Commands& commands, const Graph& graph,
                   const GraphMemory& memory, const PlaceTensor& place);
/// Runs the eager baseline once on these tensors and reads its outputs (verify --backend vulkan).
std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph, const PlaceTensor& place);
/// The same with tensors of the host, by name.
std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph,
                              const std::map<std::string, Tensor>& tensors);

/// How the eager baseline differs from the reference on this device, in one line; empty if it is
/// right. The graph should be small, as the reference runs on the host.
std::string baseline_fault(vulkan::Device& device, const Task& task, const Graph& graph,
                           uint64_t seed);

}  // namespace kbench::trial
