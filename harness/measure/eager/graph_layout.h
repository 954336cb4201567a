// Where a graph's values live: planned without a device.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "kbench/graph.h"
#include "kbench/tensor.h"

namespace kbench::eager {

/// Memory handed out first fit, as a caching allocator would.
class Arena {
 public:
  static constexpr int64_t kAlignment = 256;
  static int64_t aligned(int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// Offset of a block of `bytes`, rounded up to the alignment.
  int64_t allocate(int64_t bytes);
  /// Gives a block back.
  void release(int64_t offset);
  /// Bytes ever in use at once, gaps included.
  int64_t high_water() const { return high_water_; }

 private:
  std::map<int64_t, int64_t> blocks_;  ///< in use: offset -> bytes
  int64_t high_water_ = 0;
};

/// Homes of a graph's values. A value whose offset is -1 lives outside the arena.
struct GraphLayout {
  std::vector<int> root;                    ///< value id -> id of the value whose memory it is
  std::vector<int64_t> offset;              ///< value id -> place in the arena, of roots
  std::vector<int64_t> scratch;             ///< node -> place of its scratch
  std::vector<std::pair<int, int>> copies;  ///< from, to: outputs that share another's memory
  int64_t arena_bytes = 0;
};

/// `scratch_bytes`: what each node needs while it runs; `real`: how floats are stored.
GraphLayout lay_out(const Graph& graph, const std::vector<int64_t>& scratch_bytes,
                    DType real = DType::f32);

}  // namespace kbench::eager
