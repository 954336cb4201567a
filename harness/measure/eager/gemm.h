// Planning matrix products: which tile, and into how many parts the depth is split.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/measure/eager/eager.h"
#include "harness/measure/eager/planning.h"

namespace kbench::eager {

/// What shaders/gemm_tile.glsl is compiled for or, on matrix units, shaders/matrix_tile.glsl.
struct GemmTile {
  int64_t m, n, depth;     ///< of a workgroup
  int64_t part_m, part_n;  ///< of an invocation; on matrix units of a subgroup of 32
  double efficiency;       ///< of the arithmetic peak, once the device is full
  double alone;            ///< time of a workgroup by itself, in that of one among many
  bool matrices = false;
  int64_t sides = 2;  ///< slices in shared memory: one is written while the other is read
  int64_t threads() const { return m / part_m * (n / part_n) * (matrices ? 32 : 1); }
  int64_t shared_bytes() const;
};

/// Whether products of operands stored so run on the device's matrix units ("tensor cores"), their
/// sums in float32. Elsewhere halves are multiplied in float32.
bool on_matrices(DType stored, const DeviceTraits& traits);

/// Largest first.
std::span<const GemmTile> tiles(bool matrices = false);

struct TileChoice {
  GemmTile tile;
  int64_t splits = 1;   ///< of the depth
  int64_t split_k = 0;  ///< depth of each but the last; a multiple of the tile's
  double seconds = 0;   ///< by the model, where it was chosen by one
};

/// That tile, the depth in `splits` parts of whole slices.
TileChoice with_splits(const GemmTile& tile, int64_t k, int64_t splits);

/// The cheapest choice for `batches` products m x n x k by a model of a large GPU.
/// `stored`: the type of both operands; `may_split`: whether the depth may be split.
TileChoice choose_tile(int64_t m, int64_t n, int64_t k, int64_t batches, DType stored,
                       bool may_split, const DeviceTraits& traits);

/// Elements that an invocation loads at once: 16 bytes.
inline constexpr int64_t kHalvesAPiece = 8;
int64_t piece_elements(const GemmTile& tile);

/// Seconds that launches which only stream so many bytes take, by that model.
double streaming_seconds(int64_t bytes, int64_t launches);

/// Sets the macros of the tile's shader, and the subgroups it needs.
void add_tile_macros(Launch& launch, const GemmTile& tile, const DeviceTraits& traits);

/// Adding up the partial results of a product whose depth was split.
struct Merge {
  LaunchOperand parts, c;
  std::optional<LaunchOperand> bias;
  int64_t elements;  ///< of the result
  int64_t splits;
  int64_t n;         ///< columns; with channels, elements of a channel's plane
  int64_t channels;  ///< planes that the bias has an element for each of; 0: one for each column
};
Launch merge_launch(const Merge& merge, const DeviceTraits& traits);

/// c = a b, a being m x k and b k x n, over leading dimensions that may repeat an operand.
struct GemmProblem {
  int64_t m = 0, n = 0, k = 0;
  bool a_along_m = false;     ///< a's contiguous dimension is m: it is stored transposed
  bool b_along_n = true;      ///< b's contiguous dimension is n: it is not
  DType stored = DType::f32;  ///< of a and b; f32 where they differ, too
  /// Leading dimensions, innermost first; strides of a and b in matrices.
  std::vector<Dimension> batch = {{1, 0, 0}};
  LaunchOperand a, b, c;
  std::optional<LaunchOperand> bias;  ///< of n, added to every row
};
CallPlan plan_gemm(const GemmProblem& problem, const DeviceTraits& traits);
CallPlan plan_gemm(const GemmProblem& problem, const TileChoice& choice,
                   const DeviceTraits& traits);

}  // namespace kbench::eager
