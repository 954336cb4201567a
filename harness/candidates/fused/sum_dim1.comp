// Sum over dimension 1. Loads go out eight at a time before the first is needed.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"
#include "columns.glsl"

shared float lane_sums[LANES][64];

void main() {
  if (batch_entry() >= BATCH) return;
  bool inside = column() < COLS && lane() < LENGTH;
  uint64_t start = column_start();
  uint rows = inside ? rows_of_lane() : 0;
  float total = 0.0;
  uint r = 0;
  for (; r + UNROLL <= rows; r += UNROLL) {
    float v[UNROLL];
    [[unroll]] for (uint u = 0; u < UNROLL; ++u) v[u] = ROW(start, r + u);
    total += ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
  }
  for (; r < rows; ++r) total += ROW(start, r);

  uint c = gl_LocalInvocationID.x;
  lane_sums[lane()][c] = total;
  barrier();
  if (lane() == 0 && inside) {
    [[unroll]] for (uint l = 1; l < LANES; ++l) total += lane_sums[l][c];
    STORE(y, uint64_t(batch_entry()) * COLS + column(), total);
  }
}
