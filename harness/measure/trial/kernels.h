// The trial's own kernels: fills, the cache flush, hashes, redzones, comparisons. All are streaming
// kernels that take addresses.
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

/// Of local memory (arrays, spilled registers) of an invocation, what overwrite_stacks() reaches.
inline constexpr uint64_t kStackBytes = 4096;

/// How a kernel covers a number of words: workgroups whose invocations take `iterations` 16-byte
/// quads each.
struct WorkSplit {
  uint32_t groups = 1;
  uint32_t iterations = 1;
};
/// Throws kUnsupported above 2^34 words (64 GiB), as a quad's index has 32 bits.
WorkSplit split_work(uint64_t words);
/// 32-bit words that cover a region.
inline uint64_t words_of(const vulkan::Region& region) { return (region.size + 3) / 4; }

/// What a fill is made of.
enum class Contents : uint32_t {
  plausible,  ///< values as a result may have them, and integers of any bits; never the result
  zeros,
  small,  ///< each word the integer 1, or one of a few more; as a float no more than that
  mixed   ///< each element zero, small, plausible, or large (a float, finite; an integer of any
          ///< bits)
};
inline constexpr Contents kAllContents[] = {Contents::plausible, Contents::zeros, Contents::small,
                                            Contents::mixed};
/// What a trial's sample fills temporaries with (0 is the warm-up): all contents in turn, then
/// mixed ones for good.
Contents temporaries_contents(int sample);
/// What it fills outputs with: zeros and small ones once, else plausible values.
Contents outputs_contents(int sample);

/// What memory is filled with before a run.
struct Fill {
  DType dtype = DType::f32;
  uint64_t key = 0;
  float scale = 1;     ///< f32: uniform in [-scale, scale)
  uint32_t limit = 2;  ///< i64: uniform in [0, limit)
  Contents contents = Contents::plausible;
};

/// A region is hashed in blocks of so many words; the last block may be shorter.
inline constexpr uint64_t kHashBlockWords = 4096;
inline constexpr uint64_t kHashPrime = (uint64_t{1} << 61) - 1;
/// Bytes of the hashes of a region: 8 for each block.
uint64_t hash_bytes(const vulkan::Region& region);
/// The keys of a hash, one for each word of a block, uniform in [0, kHashPrime).
std::vector<uint64_t> draw_hash_keys(SecretStream& secret);

/// The result of comparing two arrays of hashes.
struct HashFinding {
  uint32_t changed;  ///< blocks whose hash differs
  uint32_t first;    ///< index of the first of them; all ones: none
};

/// A piece of a redzone in the table of pieces on the device.
struct Zone {
  uint64_t address;  ///< a multiple of 4
  uint32_t words;    ///< at most kZoneWords
  uint32_t unused;
};
inline constexpr uint32_t kZoneWords = 16384;
inline constexpr uint32_t kMaxZones = 1 << 18;
/// Appends the pieces of a redzone of any length.
void append_zone(std::vector<Zone>& zones, uint64_t address, uint64_t words);

/// The result for one piece, in words; for the whole table, in pieces.
struct ZoneFinding {
  uint32_t changed;  ///< number that differ from the pattern
  uint32_t first;    ///< the first of them; all ones: none
};

/// The scale of the truth.
struct ScaleFinding {
  float rms;         ///< of the finite elements
  uint32_t nans;     ///< counts saturate just below 2^32
  uint32_t largest;  ///< magnitude, of integers
  uint32_t infinities;
};

/// The result of comparing an output with the truth.
struct CompareSummary {
  uint64_t wrong, not_finite, zero, untouched;  ///< elements
  uint64_t first;                               ///< wrong element; all ones: none
  uint64_t got, expected;  ///< bits of that element; a float's and a half's are the lowest
  float max_error;
  float squares;    ///< of halves: the sum of (|c - r| / (s + |r|))^2 over finite elements
  uint32_t behind;  ///< 1: the two bytes behind an odd number of halves were written to
  uint32_t unused;
};

/// Bytes of device memory that scale() or compare() needs while it runs.
uint64_t reduction_bytes(const vulkan::Region& region);

/// The rule a comparison applies: |c - r| <= relative * |r| + absolute.
struct CompareRule {
  float relative = 1e-4f;
  float absolute = -1;  ///< negative: relative * RMS of the truth
};

/// Records the kernels. The caller records barriers before and after; those between several
/// launches of one call are recorded here.
class Kernels {
 public:
  explicit Kernels(vulkan::Device& device) : device_(device) {}

  /// Makes the pipelines that every trial needs, in parallel; others are made when first recorded.
  void prepare();

  void fill(vulkan::Commands& commands, const vulkan::Region& region, const Fill& fill);
  /// Overwrites kStackBytes of local memory wherever an invocation can run. `scratch`: a word that
  /// may be written.
  void overwrite_stacks(vulkan::Commands& commands, const vulkan::Region& scratch, uint64_t key);
  /// Overwrites the region and every core's shared memory.
  void flush(vulkan::Commands& commands, const vulkan::Region& region, uint64_t key);
  /// Writes hash_bytes(region) bytes at `hashes`. `table`: the device address of the keys. The
  /// addresses of region, table and hashes are multiples of 16, 16 and 8. Hashes of several regions
  /// may follow each other in one array.
  void hash(vulkan::Commands& commands, const vulkan::Region& region, uint64_t table,
            uint64_t hashes);
  /// Writes one HashFinding over `count` hashes at each address.
  void compare_hashes(vulkan::Commands& commands, uint64_t before, uint64_t after, uint64_t count,
                      uint64_t finding);
  /// Writes the pattern. `table` holds `count` pieces (Zone). Throws kUnsupported above kMaxZones.
  void write_zones(vulkan::Commands& commands, uint64_t table, uint32_t count, uint64_t key);
  /// Writes a ZoneFinding for each piece at `findings`, and one for all pieces at `summary`.
  void check_zones(vulkan::Commands& commands, uint64_t table, uint32_t count, uint64_t key,
                   uint64_t findings, uint64_t summary);
  /// Writes a ScaleFinding at `scale`; `work` has reduction_bytes().
  void scale(vulkan::Commands& commands, const vulkan::Region& truth, DType dtype, uint64_t work,
             uint64_t scale);
  /// Rounds the float32 of `wide` to `dtype`, f16 or bf16, in place, and writes the halves to
  /// `narrow`. The size of `wide` says how many there are.
  void narrow(vulkan::Commands& commands, const vulkan::Region& wide, const vulkan::Region& narrow,
              DType dtype);
  /// Writes a CompareSummary. `got` held `fill` before the run; `scale`: the truth's ScaleFinding.
  /// Where the fill's type is a half the truth is of float32, and its size says how many there are.
  /// `work` has reduction_bytes() that no pending scale() uses. Elements that still hold the fill
  /// are counted only if `count_untouched`: computing the fill again costs more than the
  /// comparison.
  void compare(vulkan::Commands& commands, const vulkan::Region& got, const vulkan::Region& truth,
               const Fill& fill, const CompareRule& rule, uint64_t scale, uint64_t work,
               uint64_t summary, bool count_untouched);

  /// The second part of compare(): adds up the findings of `groups` workgroups of `elements`
  /// elements each.
  struct CompareFinding {
    uint32_t wrong, not_finite, zero, untouched;
    uint32_t first;  ///< wrong element, counted from the workgroup's first; all ones: none
    float max_error;
    float squares;
    uint32_t behind;
    uint64_t got, expected;
  };
  void sum_findings(vulkan::Commands& commands, uint64_t findings, uint32_t groups,
                    uint32_t elements, uint64_t summary);

 private:
  template <class Push>
  void launch(vulkan::Commands& commands, const char* file, const vulkan::Macros& macros,
              const Push& push, uint32_t groups);

  vulkan::Device& device_;
  std::vector<vulkan::EmbeddedKey>* collected_ =
      nullptr;  ///< not null while prepare() collects keys
};

}  // namespace kbench::trial
