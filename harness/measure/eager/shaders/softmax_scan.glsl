// The pair of a stretch of a contiguous row, each lane taking every LANES-th piece. The includer
// names what it reads X.
//   WIDTH  4 where the stretch starts on, and its length is, a multiple of four elements
#define FOLD 16
#include "softmax_pair.glsl"
#include "row_reduce.glsl"

/// Of `count` elements from `base` on; the same in all lanes of the row.
ACC scan_row(uint64_t base, uint count) {
  const uint lane = gl_LocalInvocationIndex % LANES;
  ACC acc = EMPTY_PAIR;
  float v[FOLD];
#if WIDTH == 4
  uint i = lane;
  for (; i + 3 * LANES < count / 4; i += 4 * LANES) {
    vec4 q[4];
    [[unroll]] for (uint j = 0; j < 4; ++j) q[j] = LOAD4(X, base, i + j * LANES);
    [[unroll]] for (uint j = 0; j < FOLD; ++j) v[j] = q[j / 4][j % 4];
    acc = fold(acc, v);
  }
  for (; i < count / 4; i += LANES) {
    const vec4 q = LOAD4(X, base, i);
    [[unroll]] for (uint j = 0; j < FOLD; ++j) v[j] = j < 4 ? q[j % 4] : -INFINITY;
    acc = fold(acc, v);
  }
#else
  for (uint i = lane; i < count; i += FOLD * LANES) {
    [[unroll]] for (uint j = 0; j < FOLD; ++j) {
      v[j] = -INFINITY;
      if (i + j * LANES < count) v[j] = LOAD(X, base, i + j * LANES);
    }
    acc = fold(acc, v);
  }
#endif
  return row_reduce(acc);
}
