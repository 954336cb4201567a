// C = A B, batched: A is m x k, B k x n, either stored transposed. The depth may be split: each
// split then writes a partial product to C[split], which gemm_merge.comp adds up.
//   A_ALONG_M   1 where A's contiguous dimension is m (A stored transposed)
//   B_ALONG_N   1 where B's contiguous dimension is n (B not transposed)
//   MATRICES    1 for operands of 16 bits on matrix units: matrix_tile.glsl, else gemm_tile.glsl
//   A_ALIGNED, B_ALIGNED  1 where rows of that matrix start on a multiple of a piece's elements
//   C_QUADS     1 where rows of C start on a multiple of four elements
//   EDGES       0 where m, n and the depth of every split are multiples of the tile's extents
//   BIAS        1 where a vector of n is added to each row
//   BATCH       how many leading dimensions, 0 to 4
#version 450
#extension GL_GOOGLE_include_directive : require
#define A STORED_0
#define B STORED_1
#define C STORED_2
#define BIASES STORED_3
#include "tensor.glsl"
#if MATRICES
#include "matrix_tile.glsl"
#else
#include "gemm_tile.glsl"
#endif

layout(push_constant, std430) uniform Push {
  uint64_t a, b, c;
#if BIAS
  uint64_t bias;
#endif
  uint m, n, k;
  uint tiles_m, tiles_n;
  uint splits, split_k;
  uint groups;
#if BATCH > 0
  // Innermost first; strides in elements, 0 where repeated.
  uint batch[BATCH];
  uint a_stride[BATCH];
  uint b_stride[BATCH];
#endif
}
p;

const uint kRaster = 8;  // rows of tiles walked together, for the cache's sake
const bool kAlongM = A_ALONG_M != 0, kAlongN = B_ALONG_N != 0;

uint m_left, n_left, k_left;
uint64_t from_a[PIECES_A], from_b[PIECES_B];  // where the next slice's pieces lie
TILE_PIECE next_a[PIECES_A], next_b[PIECES_B];

LOAD_OPERAND_PIECE(load_a, A)
LOAD_OPERAND_PIECE(load_b, B)

#define FETCH_A(i)                                                                          \
  next_a[i] = load_a(from_a[i], piece_at(i, BM, kAlongM) + ahead, m_left, k_left, kAlongM, \
                     A_ALIGNED != 0, EDGES != 0);                                           \
  from_a[i] += a_step;
#define FETCH_B(i)                                                                          \
  next_b[i] = load_b(from_b[i], piece_at(i, BN, kAlongN) + ahead, n_left, k_left, kAlongN, \
                     B_ALIGNED != 0, EDGES != 0);                                           \
  from_b[i] += b_step;
void fetch(uint step) {
  const uvec2 ahead = uvec2(0, step * BK);
  const uint64_t a_step = ADVANCE(A, 0ul, kAlongM ? uint64_t(BK) * p.m : uint64_t(BK));
  const uint64_t b_step = ADVANCE(B, 0ul, kAlongN ? uint64_t(BK) * p.n : uint64_t(BK));
  REPEAT(PIECES_A, FETCH_A)
  REPEAT(PIECES_B, FETCH_B)
}

#define STAGE_A(i) STAGE_PIECE_A(piece_at(i, BM, kAlongM), kAlongM, next_a[i])
#define STAGE_B(i) STAGE_PIECE_B(piece_at(i, BN, kAlongN), kAlongN, next_b[i])
void stage(uint side) {
  REPEAT(PIECES_A, STAGE_A)
  REPEAT(PIECES_B, STAGE_B)
}

/// `to` is the address of the tile's first element in the result.
void store(uint64_t to, uint row, uint column, vec4 v) {
  if (EDGES == 0 || (row < m_left && column < n_left)) {
    const uint64_t at = ADVANCE(C, to, uint64_t(row) * p.n + column);
#if C_QUADS
    STORE4(C, at, 0, v);
#else
    STORE(C, at, 0, v.x);
    if (column + 1 < n_left) STORE(C, at, 1, v.y);
    if (column + 2 < n_left) STORE(C, at, 2, v.z);
    if (column + 3 < n_left) STORE(C, at, 3, v.w);
#endif
  }
}

vec4 load_bias(uint n, uint column) {
  vec4 v = vec4(0.0);
#if BIAS
  const uint64_t bias = ADVANCE(BIASES, p.bias, n + column);
  if (EDGES == 0 || column < n_left) v.x = LOAD(BIASES, bias, 0);
  if (EDGES == 0 || column + 1 < n_left) v.y = LOAD(BIASES, bias, 1);
  if (EDGES == 0 || column + 2 < n_left) v.z = LOAD(BIASES, bias, 2);
  if (EDGES == 0 || column + 3 < n_left) v.w = LOAD(BIASES, bias, 3);
#endif
  return v;
}

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint tiles = p.tiles_m * p.tiles_n;
  const uint tile = group % tiles;
  const uint split = group / tiles % p.splits;
  uint batch = group / tiles / p.splits;
  const uint strip = tile / (kRaster * p.tiles_n);
  const uint strip_rows = min(kRaster, p.tiles_m - strip * kRaster);
  const uint in_strip = tile - strip * (kRaster * p.tiles_n);
  const uint m0 = (strip * kRaster + in_strip % strip_rows) * BM;
  const uint n0 = in_strip / strip_rows * BN;
  const uint k0 = split * p.split_k;
  m_left = p.m - m0;
  n_left = p.n - n0;
  k_left = min(p.split_k, p.k - k0);

  const uint64_t result = uint64_t(split * (p.groups / tiles / p.splits) + batch) * p.m * p.n;
  uint64_t a_base = p.a, b_base = p.b;
#if BATCH > 0
  [[unroll]] for (int d = 0; d < BATCH; ++d) {
    const uint i = d + 1 < BATCH ? batch % p.batch[d] : batch;
    batch /= p.batch[d];
    a_base = ADVANCE(A, a_base, uint64_t(i) * p.a_stride[d]);
    b_base = ADVANCE(B, b_base, uint64_t(i) * p.b_stride[d]);
  }
#endif
  a_base = ADVANCE(A, a_base, kAlongM ? uint64_t(k0) * p.m + m0 : uint64_t(m0) * p.k + k0);
  b_base = ADVANCE(B, b_base, kAlongN ? uint64_t(k0) * p.n + n0 : uint64_t(n0) * p.k + k0);

#define LOCATE_A(i)                                                                   \
  from_a[i] = ADVANCE(A, a_base, piece_offset(kAlongM ? p.m : p.k,                    \
                                              piece_at(i, BM, kAlongM), kAlongM));
#define LOCATE_B(i)                                                                   \
  from_b[i] = ADVANCE(B, b_base, piece_offset(kAlongN ? p.n : p.k,                    \
                                              piece_at(i, BN, kAlongN), kAlongN));
  REPEAT(PIECES_A, LOCATE_A)
  REPEAT(PIECES_B, LOCATE_B)

  multiply_slices(ceil_div(k_left, BK));

#define LOAD_BIAS(j) bias[j] = load_bias(n0, tile_column(j));
#define STORE_QUAD(i, j) store(to, tile_row(i), tile_column(j), acc[i][j] + bias[j]);
#define STORE_ROW(i) REPEAT_WITH(QUADS_N, STORE_QUAD, i)
  const uint64_t to = ADVANCE(C, p.c, result + uint64_t(m0) * p.n + n0);
  vec4 bias[QUADS_N];
  REPEAT(QUADS_N, LOAD_BIAS)
  REPEAT(TM, STORE_ROW)
}
