// Softmax over the last dimension, one workgroup a row: the statistics in one reading, then the
// quotients, from registers for a short row and from a second reading for a long one. The second
// reading goes backwards: the end of the row is what the cache still holds.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"
#include "workgroup.glsl"
#include "softmax_row.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant) uniform Push {
  uint64_t x, y;  // addresses
};

void main() {
  uint row = folded_group();
  if (row >= ROWS) return;
  uint64_t start = uint64_t(row) * COLS * BYTES;
  RowStatistics statistics = row_statistics(x + start);
  float scale = 1.0 / statistics.sum;
  uint t = gl_LocalInvocationIndex;
#if KEPT
  [[unroll]] for (uint i = 0; i < PIECES_EACH; ++i) {
    uint piece = i * THREADS + t;
    if (piece < PIECES) {
      store_piece(y + start, piece, COLS, exp(kept[i] - statistics.largest) * scale);
    }
  }
#else
  for (uint back = t; back < PIECES; back += 4 * THREADS) {
    vec4 v[4];
    [[unroll]] for (uint u = 0; u < 4; ++u) {
      uint i = back + u * THREADS;
      if (i < PIECES) v[u] = load_piece(x + start, PIECES - 1 - i, COLS, kLowest);
    }
    [[unroll]] for (uint u = 0; u < 4; ++u) {
      uint i = back + u * THREADS;
      if (i < PIECES) {
        store_piece(y + start, PIECES - 1 - i, COLS, exp(v[u] - statistics.largest) * scale);
      }
    }
  }
#endif
}
