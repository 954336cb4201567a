// The pair of a stretch of a contiguous row, each lane taking every LANES-th piece.
//   WIDTH  4 where the stretch starts on a 16-byte boundary and its bounds are multiples of 4
#define FOLD 16
#include "softmax_pair.glsl"
#include "row_reduce.glsl"

/// Of elements [begin, end) of the row at `base`; the same in all lanes of the row.
ACC scan_row(uint64_t base, uint begin, uint end) {
  const uint lane = gl_LocalInvocationIndex % LANES;
  ACC acc = EMPTY_PAIR;
  float v[FOLD];
#if WIDTH == 4
  Vec4sIn x = Vec4sIn(base);
  uint i = begin / 4 + lane;
  for (; i + 3 * LANES < end / 4; i += 4 * LANES) {
    vec4 q[4];
    [[unroll]] for (uint j = 0; j < 4; ++j) q[j] = x.at[i + j * LANES];
    [[unroll]] for (uint j = 0; j < FOLD; ++j) v[j] = q[j / 4][j % 4];
    acc = fold(acc, v);
  }
  for (; i < end / 4; i += LANES) {
    const vec4 q = x.at[i];
    [[unroll]] for (uint j = 0; j < FOLD; ++j) v[j] = j < 4 ? q[j % 4] : -INFINITY;
    acc = fold(acc, v);
  }
#else
  FloatsIn x = FloatsIn(base);
  for (uint i = begin + lane; i < end; i += FOLD * LANES) {
    [[unroll]] for (uint j = 0; j < FOLD; ++j) {
      v[j] = -INFINITY;
      if (i + j * LANES < end) v[j] = x.at[i + j * LANES];
    }
    acc = fold(acc, v);
  }
#endif
  return row_reduce(acc);
}
