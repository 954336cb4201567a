// C = activation(scale * (A B + bias)) for a batch of row-major matrices: A is [ROWS, DEPTH], B is
// [DEPTH, COLS], or [COLS, DEPTH] with TRANSPOSE_B (as a linear layer's weight is stored). The
// epilogue runs on the sums while they are still in registers. EPILOGUE 0: none; 1: bias, scale and
// ACTIVATION; 2: division by sqrt(DEPTH), as attention scores take it.
//
// Factors of float16 are multiplied on tensor cores where the device has them (TENSOR).
//
// The grid is (row tiles, column tiles, batch): x runs fastest, so workgroups that run together
// share a piece of B, the larger factor where it is a weight.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

layout(push_constant) uniform Push {
  uint64_t a, b, c;  // addresses
#if EPILOGUE == 1
  uint64_t bias;
  float scale;
  float parameter;  // of the activation
#endif
};

vec4 epilogue(vec4 v, vec4 added) {
#if EPILOGUE == 1
  return activate(ACTIVATION, (v + added) * scale, parameter);
#elif EPILOGUE == 2
  return v * inversesqrt(float(DEPTH));
#else
  return v;
#endif
}

vec4 bias_piece(uint col) {
#if EPILOGUE == 1
  return load_piece(bias, col / 4, COLS, 0.0);
#else
  return vec4(0.0);
#endif
}

#if TENSOR
#include "gemm_tensor.glsl"
#else
#include "gemm_tile.glsl"

// Vec4s of a tile that one thread moves, and the vec4s along a tile's row.
#define A_LOADS ((BM * BK / 4 + THREADS - 1) / THREADS)
#define B_LOADS ((BN * BK / 4 + THREADS - 1) / THREADS)
const uint kDepth4 = BK / 4;

vec4 from_a[A_LOADS];
vec4 from_b[B_LOADS];

// A vec4 of a row-major matrix, zero outside. The tile's extents tell the compiler which checks a
// matrix of whole tiles can do without.
vec4 fetch(uint64_t matrix, uint row, uint col, uint rows, uint cols, uint tile_rows,
           uint tile_cols) {
  if (rows % tile_rows != 0 && row >= rows) return vec4(0.0);
  if (cols % tile_cols != 0 && col >= cols) return vec4(0.0);
  return load_piece(AT(matrix, uint64_t(row) * cols), col / 4, cols, 0.0);
}

void fetch_tiles(uint64_t a0, uint64_t b0, uint first_row, uint first_col, uint k0) {
  [[unroll]] for (uint l = 0; l < A_LOADS; ++l) {
    uint i = l * THREADS + gl_LocalInvocationIndex;
    from_a[l] = fetch(a0, first_row + i / kDepth4, k0 + i % kDepth4 * 4, ROWS, DEPTH, BM, BK);
  }
  [[unroll]] for (uint l = 0; l < B_LOADS; ++l) {
    uint i = l * THREADS + gl_LocalInvocationIndex;
#if TRANSPOSE_B
    from_b[l] = fetch(b0, first_col + i / kDepth4, k0 + i % kDepth4 * 4, COLS, DEPTH, BN, BK);
#else
    from_b[l] = fetch(b0, k0 + i / (BN / 4), first_col + i % (BN / 4) * 4, DEPTH, COLS, BK, BN);
#endif
  }
}

void store_tiles(uint stage) {
  [[unroll]] for (uint l = 0; l < A_LOADS; ++l) {
    uint i = l * THREADS + gl_LocalInvocationIndex;
    if (BM * BK / 4 % THREADS != 0 && i >= BM * BK / 4) break;
    uint row = i / kDepth4;
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      uint k = i % kDepth4 * 4 + j;
      tile_a[stage][k][swizzled(k, row / 4)][row % 4] = from_a[l][j];
    }
  }
  [[unroll]] for (uint l = 0; l < B_LOADS; ++l) {
    uint i = l * THREADS + gl_LocalInvocationIndex;
    if (BN * BK / 4 % THREADS != 0 && i >= BN * BK / 4) break;
#if TRANSPOSE_B
    uint col = i / kDepth4;
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      uint k = i % kDepth4 * 4 + j;
      tile_b[stage][k][swizzled(k, col / 4)][col % 4] = from_b[l][j];
    }
#else
    uint k = i / (BN / 4);
    tile_b[stage][k][swizzled(k, i % (BN / 4))] = from_b[l];
#endif
  }
}

void tile_product(uint64_t a0, uint64_t b0, uint64_t c0, uint first_row, uint first_col) {
  clear_acc();
  fetch_tiles(a0, b0, first_row, first_col, 0);
  store_tiles(0);
  barrier();
  uint stage = 0;
  for (uint k0 = BK; k0 < DEPTH; k0 += BK) {
    fetch_tiles(a0, b0, first_row, first_col, k0);
    multiply_tiles(stage);
    stage ^= 1;
    store_tiles(stage);
    barrier();
  }
  multiply_tiles(stage);

  [[unroll]] for (uint j = 0; j < TN / 4; ++j) {
    uint col = first_col + tile_col(j);
    if (col >= COLS) continue;
    vec4 added = bias_piece(col);
    [[unroll]] for (uint i = 0; i < TM; ++i) {
      uint row = first_row + tile_row(i);
      if (row < ROWS) {
        vec4 v = epilogue(acc[i][j], added);
        store_piece(AT(c0, uint64_t(row) * COLS), col / 4, COLS, v);
      }
    }
  }
}
#endif

void main() {
  uint first_row = gl_WorkGroupID.x * BM;
  uint first_col = gl_WorkGroupID.y * BN;
  uint64_t batch = gl_WorkGroupID.z;
  uint64_t a0 = AT(a, batch * ROWS * DEPTH);
  uint64_t b0 = AT(b, batch * DEPTH * COLS);
  uint64_t c0 = AT(c, batch * ROWS * COLS);
  tile_product(a0, b0, c0, first_row, first_col);
}
