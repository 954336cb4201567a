// Counter-based draws: the same (seed, task, tensor name) gives the same values on every machine,
// in any order, on the host or in a shader.
//
// The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011) with key = seed and counter = (block, FNV-1a-32 of the tensor's name,
// level * 65536 + task number). Block b yields words 4b .. 4b+3; element i of a tensor takes words
// i*n .. i*n+n-1, n being Distribution::words().
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "kbench/tensor.h"

namespace kbench {

/// One Philox4x32-10 block.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);
/// FNV-1a, 32 bits.
uint32_t fnv1a32(std::string_view text);

/// The distribution of a tensor's elements.
struct Distribution {
  enum class Kind {
    uniform,  ///< lo + u * (hi - lo) in float32, each step rounded; u = (word >> 8) * 2^-24
    normal,   ///< mean lo, standard deviation hi; Box-Muller in float64, then rounded to float32
    randint,  ///< lo + ((word * (hi - lo)) >> 32), for i64, u8 and bool
  };
  /// A step after drawing.
  enum class Then {
    nothing,
    symmetrize,      ///< (X + X^T) / 2, square matrices
    triu,            ///< zero below the diagonal of the last two dimensions
    tril,            ///< zero above it
    softmax_last,    ///< softmax over the last dimension, in float64
    plus_minus_one,  ///< 2 * x - 1 as float32 (of a randint 0, 2)
    /// Plus an offset for each index of the first two dimensions (of the first, where there are no
    /// more than two): element i of the same distribution under the name NAME.offsets, added in
    /// float32. Images with means of their own by sample and channel: what averages over them does
    /// not come to the same number for all.
    offset,
  };
  Kind kind = Kind::normal;
  double lo = 0;
  double hi = 1;
  Then then = Then::nothing;

  /// Philox words an element takes: 2 for normal, else 1.
  int words() const { return kind == Kind::normal ? 2 : 1; }
  bool operator==(const Distribution&) const = default;
};
std::string_view name_of(Distribution::Kind kind);        ///< "uniform", "normal", "randint"
std::string_view name_of(Distribution::Then then);        ///< the enumerator's
std::string to_string(const Distribution& distribution);  ///< "uniform(-4, 4)", "normal, triu"

Distribution uniform(double lo, double hi);
Distribution normal(double mean = 0, double deviation = 1);
Distribution randint(int64_t lo, int64_t hi);    ///< lo <= x < hi
Distribution offset(Distribution distribution);  ///< the same, then `offset`
/// How many elements in a row share an offset; 0 for a shape of fewer than two dimensions.
int64_t offset_run(const Shape& shape);
std::string offsets_name(const std::string& name);  ///< NAME.offsets

/// The key of a tensor's stream of words.
struct DrawKey {
  uint64_t seed = 0;
  uint32_t task = 0;  ///< level * 65536 + task number
  std::string name;
};

/// A tensor of that type, drawn. dtype f32 (uniform, normal, randint with plus_minus_one), i64, u8
/// or bool (randint). Throws kInvalidArgument where distribution and type do not go together.
Tensor draw(const Distribution& distribution, const DrawKey& key, const TensorType& type);
/// Elements [begin, begin + out.size()) of the float32 stream, without any `then` step.
void draw_range(const Distribution& distribution, const DrawKey& key, int64_t begin,
                std::span<float> out);

}  // namespace kbench
