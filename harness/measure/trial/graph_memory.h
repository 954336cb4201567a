// Device memory for running a graph by the eager baseline alone, without redzones.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/graph.h"

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

}  // namespace kbench::trial
