// The trial's own kernels: fills, masks, the cache flush, hashes, redzones, comparisons. All are
// streaming kernels that take addresses; none knows about candidates.
#pragma once

#include <cstdint>

#include "harness/vulkan/commands.h"
#include "harness/vulkan/device.h"
#include "kbench/tensor.h"

namespace kbench::trial {

/// How a kernel walks `words` 32-bit words: workgroups of 256, `iterations` 16-byte quads each.
struct WorkSplit {
  uint32_t groups = 1;
  uint32_t iterations = 1;
};
WorkSplit split_work(uint64_t words);
/// 32-bit words that cover a region.
inline uint64_t words_of(const vulkan::Region& region) { return (region.size + 3) / 4; }

/// Values that could be a result and are not this sample's.
struct Fill {
  DType dtype = DType::f32;
  uint64_t key = 0;
  float scale = 1;     ///< f32: uniform in [-scale, scale)
  uint32_t limit = 2;  ///< i64: uniform in [0, limit)
};

/// What one workgroup of redzone checking writes.
struct ZoneFinding {
  uint32_t changed;  ///< words that differ from the pattern
  uint32_t first;    ///< the first of them
};

/// The truth's scale, as the device works it out.
struct ScaleFinding {
  float rms;
  uint32_t nans;
  uint32_t largest;  ///< magnitude, of integers
  uint32_t unused;
};

/// What one workgroup of a comparison writes.
struct CompareFinding {
  uint32_t wrong, not_finite, zero, untouched;
  uint32_t first;  ///< element, counted from the workgroup's first; all ones: none
  float max_error;
  uint32_t unused[2];
};

/// The rule a comparison applies: |c - r| <= relative * |r| + absolute.
struct CompareRule {
  float relative = 1e-4f;
  float absolute = -1;  ///< below zero: relative * RMS of the truth
};

/// Records the kernels. Barriers are the caller's.
class Kernels {
 public:
  explicit Kernels(vulkan::Device& device) : device_(device) {}

  void fill(vulkan::Commands& commands, const vulkan::Region& region, const Fill& fill);
  /// Xor with a secret stream; doing it again undoes it.
  void mask(vulkan::Commands& commands, const vulkan::Region& region, uint64_t key);
  /// Overwrites the region, and every core's shared memory on the way.
  void flush(vulkan::Commands& commands, const vulkan::Region& region, uint64_t key);
  /// Partial sums (64 bits each, split_work(words).groups of them) of a keyed hash.
  void hash(vulkan::Commands& commands, const vulkan::Region& region, uint64_t key,
            uint64_t partials);
  /// `table` holds one address a zone.
  void write_zones(vulkan::Commands& commands, uint64_t table, uint32_t zones, uint32_t zone_bytes,
                   uint64_t key);
  void check_zones(vulkan::Commands& commands, uint64_t table, uint32_t zones, uint32_t zone_bytes,
                   uint64_t key, uint64_t findings);
  /// Scale of a truth: partial sums (16 bytes a group), then a ScaleFinding. Records the barrier
  /// between its two launches.
  void scale(vulkan::Commands& commands, const vulkan::Region& truth, DType dtype,
             uint64_t partials, uint64_t scale);
  /// One CompareFinding a workgroup. `fill` is what `got` was written over.
  void compare(vulkan::Commands& commands, const vulkan::Region& got, const vulkan::Region& truth,
               const Fill& fill, const CompareRule& rule, uint64_t scale, uint64_t findings);

 private:
  template <class Push>
  void launch(vulkan::Commands& commands, const char* file, const vulkan::Macros& macros,
              const Push& push, uint32_t groups);

  vulkan::Device& device_;
};

}  // namespace kbench::trial
