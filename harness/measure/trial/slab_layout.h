// The places of tensors in memory that processes share. Uses no device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/graph.h"

namespace kbench::trial {

/// The least bytes of a redzone, which lies before and behind each tensor and must not be written.
inline constexpr uint64_t kRedzoneBytes = 64 << 10;

/// Bytes of a tensor's place: at least one 32-bit word.
inline uint64_t place_bytes(uint64_t tensor_bytes) { return std::max<uint64_t>(tensor_bytes, 4); }

/// Tensors begin at multiples of so many bytes.
inline constexpr uint64_t kTensorAlignment = 256;
inline uint64_t align_tensor(uint64_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

/// Tensors in one allocation, with redzones before the first, between each two and behind the last.
/// Every byte belongs to a tensor or a redzone.
class SlabLayout {
 public:
  struct Item {
    std::string name;
    uint64_t offset = 0;  ///< a multiple of kTensorAlignment
    uint64_t bytes = 0;   ///< place_bytes()
    /// Where the redzone behind it begins, a multiple of 4.
    uint64_t end() const { return offset + (bytes + 3) / 4 * 4; }
  };

  /// Returns the item's index. Throws kShape if the sum of all is over 2^62 bytes.
  size_t add(std::string name, uint64_t bytes);
  const std::vector<Item>& items() const { return items_; }
  bool empty() const { return items_.empty(); }
  /// Bytes to allocate; 0 without items.
  uint64_t bytes() const { return items_.empty() ? 0 : size_; }

 private:
  std::vector<Item> items_;
  uint64_t size_ = 0;
};

/// The slabs of a task at one size and precision, the same for all candidates. A candidate's runner
/// imports `given` and `outputs` only. The truth is computed in float32, also in a
/// task of halves, from the values that the candidate is given.
struct TaskLayout {
  SlabLayout given;    ///< inputs, parameters, constants, as they are stored
  SlabLayout wide;     ///< the same for the maker of the truth; empty where they are stored so
  SlabLayout truth;    ///< its outputs
  SlabLayout arena;    ///< its intermediates
  SlabLayout outputs;  ///< the candidate's, as they are stored

  TaskLayout(const Graph& graph, uint64_t arena_bytes);
  uint64_t bytes() const;
};

/// Device bytes that a trial of this task needs without the candidate's temporaries, including the
/// buffers for cache flushes of both runners.
uint64_t required_bytes(const Graph& graph, const vulkan::DeviceSnapshot& snapshot);

/// "1.5 GB", powers of ten.
std::string gigabytes(uint64_t bytes);

}  // namespace kbench::trial
