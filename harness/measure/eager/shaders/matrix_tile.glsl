// The tile of gemm_tile.glsl for operands of 16 bits, on the device's matrix units: products of 16
// by 16 elements summed in float32, a subgroup of 32 invocations at a time (coop_matrix.glsl).
// Slices lie in shared memory as the operands do in memory, each row with 16 bytes of padding that
// spread rows over the banks. A subgroup accumulates SUBGROUP_M x SUBGROUP_N elements as
// FRAGMENTS_M x FRAGMENTS_N matrices; at the end they go through shared memory to the invocations,
// ROUND quads of every 16 rows, TM in all. Besides these and BM, BN, BK the host defines THREADS,
// PIECES_A, PIECES_B (pieces of eight elements), QUADS_N, which is 1, and SIDES: 2 where a slice is
// staged while the one before it is multiplied, 1 where that would take too much shared memory. The
// includer defines fetch(), stage() and
//   A, B                  how the operands are stored, both f16 or both bf16
//   A_ALONG_M, B_ALONG_N  1 where that operand's contiguous dimension is m or n, not the depth
#include "repeat.glsl"

#define PIECE_WIDTH 8
#include "tile_pieces.glsl"

layout(local_size_x = THREADS) in;

// Of a slice: units of 16 bytes from one row to the next, and in all.
#define A_STRIDE ((A_ALONG_M != 0 ? BM : BK) / 8 + 1)
#define B_STRIDE ((B_ALONG_N != 0 ? BN : BK) / 8 + 1)
#define A_SLICE ((A_ALONG_M != 0 ? BK : BM) * A_STRIDE)
#define B_SLICE ((B_ALONG_N != 0 ? BK : BN) * B_STRIDE)
// Results of a subgroup, 16 rows at a time, in float32.
#define SUMS_STRIDE (SUBGROUP_N / 4 + 1)
#define SUMS_SLICE (16 * SUMS_STRIDE)
#define OPERANDS_SIZE (SIDES * (A_SLICE + B_SLICE))
#define SUMS_SIZE (THREADS / 32 * SUMS_SLICE)

/// All sides of A's slice, then all of B's; afterwards the results.
shared uvec4 staged[OPERANDS_SIZE > SUMS_SIZE ? OPERANDS_SIZE : SUMS_SIZE];
#include "coop_matrix.glsl"

MATRIX_SUM sums[FRAGMENTS_M][FRAGMENTS_N];
vec4 acc[TM][1];

void fetch(uint step);
void stage(uint side);

const uint kQuads = SUBGROUP_N / 4;  // of a row of a subgroup's results
const uint kRowsAtOnce = 32 / kQuads;

/// Row and column of the tile where this subgroup's results begin.
uvec2 subgroup_origin() {
  return uvec2(subgroup() / (BN / SUBGROUP_N) * SUBGROUP_M,
               subgroup() % (BN / SUBGROUP_N) * SUBGROUP_N);
}
/// Row of the tile that acc[i] belongs to; column of the tile that acc[.][0].x belongs to.
uint tile_row(uint i) {
  return subgroup_origin().x + i / ROUND * 16 + i % ROUND * kRowsAtOnce + lane() / kQuads;
}
uint tile_column(uint j) { return subgroup_origin().y + lane() % kQuads * 4; }

#define LOAD_FRAGMENT_B(j) \
  LOAD_MATRIX(b[j], b_at + j * (B_ALONG_N != 0 ? 2 : 16 * B_STRIDE), B_STRIDE, B_ALONG_N == 0)
#define MULTIPLY_FRAGMENT(i, j) MULTIPLY_ADD(sums[i][j], a, b[j])
#define MULTIPLY_FRAGMENTS(i)                                                                  \
  LOAD_MATRIX(a, a_at + i * (A_ALONG_M != 0 ? 2 : 16 * A_STRIDE), A_STRIDE, A_ALONG_M != 0) \
  REPEAT_WITH(FRAGMENTS_N, MULTIPLY_FRAGMENT, i)
void multiply(uint side) {
  const uvec2 origin = subgroup_origin();
  uint a_at = side * A_SLICE + (A_ALONG_M != 0 ? origin.x / 8 : origin.x * A_STRIDE);
  uint b_at = SIDES * A_SLICE + side * B_SLICE;
  b_at += B_ALONG_N != 0 ? origin.y / 8 : origin.y * B_STRIDE;
  [[unroll]] for (uint k = 0; k < TIMES(BK); k += 16) {
    MATRIX_A a;
    MATRIX_B b[FRAGMENTS_N];
    REPEAT(FRAGMENTS_N, LOAD_FRAGMENT_B)
    REPEAT(FRAGMENTS_M, MULTIPLY_FRAGMENTS)
    a_at += A_ALONG_M != 0 ? 16 * A_STRIDE : 2;
    b_at += B_ALONG_N != 0 ? 16 * B_STRIDE : 2;
  }
}

#define STORE_SUM(i, j) STORE_MATRIX(sums[i][j], to + j * 4, SUMS_STRIDE)
#define TAKE_QUAD(i, e)                   \
  acc[i * ROUND + e][0] = uintBitsToFloat( \
      staged[to + (e * kRowsAtOnce + lane() / kQuads) * SUMS_STRIDE + lane() % kQuads]);
#define TAKE_ROWS(i)                     \
  barrier();                             \
  REPEAT_WITH(FRAGMENTS_N, STORE_SUM, i) \
  barrier();                             \
  REPEAT_WITH(ROUND, TAKE_QUAD, i)
/// The subgroup's matrices to acc, 16 rows at a time.
void take_sums() {
  const uint to = subgroup() * SUMS_SLICE;
  REPEAT(FRAGMENTS_M, TAKE_ROWS)
}

#define CLEAR_SUM(i, j) CLEAR_MATRIX(sums[i][j])
#define CLEAR_SUMS(i) REPEAT_WITH(FRAGMENTS_N, CLEAR_SUM, i)
/// Accumulates `steps` slices, at least one. All invocations must call it.
void multiply_slices(uint steps) {
  REPEAT(FRAGMENTS_M, CLEAR_SUMS)
  fetch(0);
  stage(0);
  barrier();
  for (uint step = 1; step < steps; ++step) {
    fetch(step);
    multiply((step - 1) % SIDES);
#if SIDES == 1
    barrier();
#endif
    stage(step % SIDES);
    barrier();
  }
  multiply((steps - 1) % SIDES);
  take_sums();
}

// --- operands that are matrices in memory --------------------------------------------------------

#define TILE_PIECE uvec4

#define TWO_OF_PIECE(X, j)                      \
  ((j < inside ? LOAD_BITS(X, from, j) : 0u) | \
   (j + 1 < inside ? LOAD_BITS(X, from, j + 1) << 16 : 0u))
#define LOAD_OPERAND_PIECE(name, X)                                                           \
  TILE_PIECE name(uint64_t from, uvec2 at, uint wide_end, uint depth_end, bool along_wide,    \
                  bool aligned, bool edges) {                                                 \
    if (edges && (at.x >= wide_end || at.y >= depth_end)) return uvec4(0);                    \
    if (aligned) return LOAD8_HALVES(from);                                                   \
    const uint inside = !edges ? 8 : (along_wide ? wide_end - at.x : depth_end - at.y);       \
    return uvec4(TWO_OF_PIECE(X, 0), TWO_OF_PIECE(X, 2), TWO_OF_PIECE(X, 4), TWO_OF_PIECE(X, 6)); \
  }

#define STAGE_PIECE_A(at, along_m, v) \
  staged[side * A_SLICE + ((along_m) ? (at).y * A_STRIDE + (at).x / 8 \
                                     : (at).x * A_STRIDE + (at).y / 8)] = v;
#define STAGE_PIECE_B(at, along_n, v) \
  staged[SIDES * A_SLICE + side * B_SLICE + ((along_n) ? (at).y * B_STRIDE + (at).x / 8 \
                                                   : (at).x * B_STRIDE + (at).y / 8)] = v;
