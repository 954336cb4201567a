// C = A B for a batch of row-major matrices: A is [ROWS, DEPTH], B is [DEPTH, COLS], or
// [COLS, DEPTH] with TRANSPOSE_B (as the weight of a linear layer is stored).
//
// One output a thread. A workgroup makes a 16x16 tile of C: it walks along DEPTH in steps of 16,
// brings a tile of A and a tile of B into shared memory with neighbouring threads reading
// neighbouring floats, and uses each loaded value 16 times. Out of range counts as zero.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

#define TILE 16
layout(local_size_x = TILE, local_size_y = TILE) in;
layout(push_constant) uniform Push {
  uint64_t a, b, c;  // addresses
};

shared float tile_a[TILE][TILE];
shared float tile_b[TILE][TILE + 1];  // one more column: the transposed store hits distinct banks

void main() {
  uint tx = gl_LocalInvocationID.x;
  uint ty = gl_LocalInvocationID.y;
  uint first_row = gl_WorkGroupID.y * TILE;
  uint first_col = gl_WorkGroupID.x * TILE;
  uint64_t batch = gl_WorkGroupID.z;
  uint64_t a0 = a + 4ul * batch * ROWS * DEPTH;
  uint64_t b0 = b + 4ul * batch * DEPTH * COLS;
  uint64_t c0 = c + 4ul * batch * ROWS * COLS;

  float sum = 0.0;
  for (uint k0 = 0; k0 < DEPTH; k0 += TILE) {
    uint row = first_row + ty;
    tile_a[ty][tx] = row < ROWS && k0 + tx < DEPTH ? AT(a0, uint64_t(row) * DEPTH + k0 + tx) : 0.0;
#if TRANSPOSE_B
    uint col = first_col + ty;
    tile_b[tx][ty] = col < COLS && k0 + tx < DEPTH ? AT(b0, uint64_t(col) * DEPTH + k0 + tx) : 0.0;
#else
    uint col = first_col + tx;
    tile_b[ty][tx] = col < COLS && k0 + ty < DEPTH ? AT(b0, uint64_t(k0 + ty) * COLS + col) : 0.0;
#endif
    barrier();
    for (uint k = 0; k < TILE; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
    barrier();
  }

  uint row = first_row + ty;
  uint col = first_col + tx;
  if (row < ROWS && col < COLS) AT(c0, uint64_t(row) * COLS + col) = sum;
}
