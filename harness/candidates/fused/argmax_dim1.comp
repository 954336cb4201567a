// Where the maximum over dimension 1 stands, the first of equals. Each thread keeps its best; the
// four that share a column compare value first, row second. The result is a 64-bit integer.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"
#include "columns.glsl"

layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer Int64 {
  uvec2 words;  // low word first
};

shared float lane_values[LANES][64];
shared uint lane_rows[LANES][64];

void main() {
  if (batch_entry() >= BATCH) return;
  bool inside = column() < COLS && lane() < LENGTH;
  uint64_t start = column_start();
  uint rows = inside ? rows_of_lane() : 0;
  float best = inside ? ROW(start, 0) : kLowest;
  uint best_row = 0;
  uint r = 0;
  for (; r + UNROLL <= rows; r += UNROLL) {
    float v[UNROLL];
    [[unroll]] for (uint u = 0; u < UNROLL; ++u) v[u] = ROW(start, r + u);
    [[unroll]] for (uint u = 0; u < UNROLL; ++u) {
      if (v[u] > best) {
        best = v[u];
        best_row = r + u;
      }
    }
  }
  for (; r < rows; ++r) {
    float v = ROW(start, r);
    if (v > best) {
      best = v;
      best_row = r;
    }
  }
  best_row = best_row * LANES + lane();

  uint c = gl_LocalInvocationID.x;
  lane_values[lane()][c] = best;
  lane_rows[lane()][c] = best_row;
  barrier();
  if (lane() == 0 && inside) {
    [[unroll]] for (uint l = 1; l < min(LANES, LENGTH); ++l) {
      float v = lane_values[l][c];
      uint row = lane_rows[l][c];
      if (v > best || (v == best && row < best_row)) {
        best = v;
        best_row = row;
      }
    }
    Int64(y + 8ul * (uint64_t(batch_entry()) * COLS + column())).words = uvec2(best_row, 0);
  }
}
