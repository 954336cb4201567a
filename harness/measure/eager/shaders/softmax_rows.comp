// Softmax of contiguous rows that fit the registers of their LANES invocations: one read, one
// write.
//   PIECES  pieces of WIDTH elements a lane holds; LANES * PIECES * WIDTH >= n
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#include "pieces.glsl"
#include "softmax_pair.glsl"
#include "row_reduce.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint rows;
  uint n;
  uint groups;
}
p;

#if WIDTH == 4
float largest(vec4 v) { return max(max(v.x, v.y), max(v.z, v.w)); }
float total(vec4 v) { return (v.x + v.y) + (v.z + v.w); }
#else
float largest(float v) { return v; }
float total(float v) { return v; }
#endif

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint lane = gl_LocalInvocationIndex % LANES;
  const uint row = group * kRows + gl_LocalInvocationIndex / LANES;
  const uint pieces = row < p.rows ? p.n / WIDTH : 0;
  const uint64_t x = ADVANCE(X, p.x, uint64_t(row) * p.n);
  const uint64_t y = ADVANCE(Y, p.y, uint64_t(row) * p.n);

  PIECE v[PIECES];
  float m = -INFINITY;
  [[unroll]] for (uint i = 0; i < PIECES; ++i) {
    v[i] = PIECE(-INFINITY);
    if (lane + i * LANES < pieces) v[i] = LOAD_PIECE(X, x, lane + i * LANES);
  }
  [[unroll]] for (uint i = 0; i < PIECES; ++i) m = max(m, largest(v[i]));
  const float shift = shift_of(m);
  float sum = 0.0;
  [[unroll]] for (uint i = 0; i < PIECES; ++i) {
    const PIECE e = exp(v[i] - shift);
    sum += total(e);
#if !LOGARITHM
    v[i] = e;
#endif
  }
  const vec2 whole = row_reduce(vec2(m, sum));
#if LOGARITHM
  const float scale = scale_of(whole);
#else
  const float scale = rescale(m, whole.x) / whole.y;
#endif
  [[unroll]] for (uint i = 0; i < PIECES; ++i) {
    if (lane + i * LANES < pieces) {
#if LOGARITHM
      STORE_PIECE(Y, y, lane + i * LANES, applied(v[i], whole, scale));
#else
      STORE_PIECE(Y, y, lane + i * LANES, v[i] * scale);
#endif
    }
  }
}
