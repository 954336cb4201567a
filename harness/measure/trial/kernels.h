// The trial's own kernels: fills, the cache flush, hashes, redzones, comparisons. All are streaming
// kernels that take addresses; none knows about candidates.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/tensor.h"

namespace kbench::trial {

/// Invocations of a workgroup, in all of the trial's shaders.
inline constexpr uint32_t kGroupThreads = 256;

/// How a kernel walks `words` 32-bit words: workgroups of 256, `iterations` 16-byte quads each.
struct WorkSplit {
  uint32_t groups = 1;
  uint32_t iterations = 1;
};
/// Throws kUnsupported above 2^34 words (64 GiB), where a quad's index takes more than 32 bits.
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

/// A region is hashed in blocks of so many words; the last may be shorter.
inline constexpr uint64_t kHashBlockWords = 4096;
inline constexpr uint64_t kHashPrime = (uint64_t{1} << 61) - 1;
/// Hashes of a region: 8 bytes a block.
uint64_t hash_bytes(const vulkan::Region& region);
/// The keys of a hash: one a word of a block, uniform in [0, kHashPrime) as far as `secret` is.
std::vector<uint64_t> draw_hash_keys(SecretStream& secret);

/// What comparing two arrays of hashes finds.
struct HashFinding {
  uint32_t changed;  ///< blocks whose hash differs
  uint32_t first;    ///< the first of them, by its place in the arrays; all ones: none
};

/// A piece of a redzone, as the table of pieces on the device holds it.
struct Zone {
  uint64_t address;  ///< a multiple of 4
  uint32_t words;    ///< at most kZoneWords
  uint32_t unused;
};
inline constexpr uint32_t kZoneWords = 16384;
inline constexpr uint32_t kMaxZones = 1 << 18;
/// Appends a redzone of any length in pieces.
void append_zone(std::vector<Zone>& zones, uint64_t address, uint64_t words);

/// What is wrong with one piece; of the whole table, `changed` counts pieces and `first` is one.
struct ZoneFinding {
  uint32_t changed;  ///< words that differ from the pattern
  uint32_t first;    ///< the first of them; all ones: none
};

/// The truth's scale, as the device works it out.
struct ScaleFinding {
  float rms;         ///< of what is finite
  uint32_t nans;     ///< counts stop just below 2^32
  uint32_t largest;  ///< magnitude, of integers
  uint32_t infinities;
};

/// What comparing an output finds.
struct CompareSummary {
  uint64_t wrong, not_finite, zero, untouched;  ///< elements
  uint64_t first;                               ///< wrong element; all ones: none
  uint64_t got, expected;  ///< bits of that element; a float's are the lower half
  float max_error;
  uint32_t unused;
};

/// Bytes of device memory scale() or compare() needs while it runs.
uint64_t reduction_bytes(const vulkan::Region& region);

/// The rule a comparison applies: |c - r| <= relative * |r| + absolute.
struct CompareRule {
  float relative = 1e-4f;
  float absolute = -1;  ///< below zero: relative * RMS of the truth
};

/// Records the kernels. Barriers before and after are the caller's; what takes several launches
/// records those between them.
class Kernels {
 public:
  explicit Kernels(vulkan::Device& device) : device_(device) {}

  /// Makes the pipelines that every trial needs, several at a time; the others are made when they
  /// are first recorded.
  void prepare();

  void fill(vulkan::Commands& commands, const vulkan::Region& region, const Fill& fill);
  /// Overwrites the region, and every core's shared memory on the way.
  void flush(vulkan::Commands& commands, const vulkan::Region& region, uint64_t key);
  /// Writes hash_bytes(region) at `hashes`. `table`: address of draw_hash_keys()'s, on the
  /// device. Addresses are multiples of 16, 16 and 8. Hashes of several regions may stand in one
  /// array.
  void hash(vulkan::Commands& commands, const vulkan::Region& region, uint64_t table,
            uint64_t hashes);
  /// One HashFinding over `count` hashes at each address.
  void compare_hashes(vulkan::Commands& commands, uint64_t before, uint64_t after, uint64_t count,
                      uint64_t finding);
  /// `table` holds `count` pieces (Zone), at most kMaxZones, else kUnsupported is thrown.
  void write_zones(vulkan::Commands& commands, uint64_t table, uint32_t count, uint64_t key);
  /// A ZoneFinding for each piece at `findings`, and one over all pieces at `summary`.
  void check_zones(vulkan::Commands& commands, uint64_t table, uint32_t count, uint64_t key,
                   uint64_t findings, uint64_t summary);
  /// A ScaleFinding at `scale`; `work` has reduction_bytes().
  void scale(vulkan::Commands& commands, const vulkan::Region& truth, DType dtype, uint64_t work,
             uint64_t scale);
  /// A CompareSummary. `fill` is what `got` was written over, `scale` the truth's ScaleFinding;
  /// `work` has reduction_bytes(), not those of a scale() under way. Elements that still hold the
  /// fill are counted only when told to: working it out again costs more than the comparison.
  void compare(vulkan::Commands& commands, const vulkan::Region& got, const vulkan::Region& truth,
               const Fill& fill, const CompareRule& rule, uint64_t scale, uint64_t work,
               uint64_t summary, bool count_untouched);

  /// compare()'s second part: adds up the findings of `groups` workgroups, each of which had
  /// `elements` elements.
  struct CompareFinding {
    uint32_t wrong, not_finite, zero, untouched;
    uint32_t first;  ///< wrong element, counted from the workgroup's first; all ones: none
    float max_error;
    uint32_t unused[2];
    uint64_t got, expected;
  };
  void sum_findings(vulkan::Commands& commands, uint64_t findings, uint32_t groups,
                    uint32_t elements, uint64_t summary);

 private:
  template <class Push>
  void launch(vulkan::Commands& commands, const char* file, const vulkan::Macros& macros,
              const Push& push, uint32_t groups);

  vulkan::Device& device_;
  std::vector<vulkan::EmbeddedKey>* collected_ = nullptr;  ///< while prepare() asks what there is
};

}  // namespace kbench::trial
