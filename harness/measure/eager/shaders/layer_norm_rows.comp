// Layer norm of contiguous rows that fit the registers of their LANES invocations: one read, one
// write.
//   PIECES  pieces of WIDTH elements a lane holds; LANES * PIECES * WIDTH >= n
//   AFFINE  1 where there are weight and bias
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#define WEIGHT STORED_2
#define BIASES STORED_3
#include "pieces.glsl"
#include "moments.glsl"
#include "row_reduce.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
#if AFFINE
  uint64_t weight, bias;
#endif
  uint rows;
  uint n;
  uint groups;
  uint weight_rows;  // every so many rows weight and bias start again
  float eps;
}
p;

#if WIDTH == 4
float total(vec4 v) { return (v.x + v.y) + (v.z + v.w); }
#else
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
  float sum = 0.0, count = 0.0, squares = 0.0;
  [[unroll]] for (uint i = 0; i < PIECES; ++i) {
    v[i] = PIECE(0.0);
    if (lane + i * LANES < pieces) {
      v[i] = LOAD_PIECE(X, x, lane + i * LANES);
      count += WIDTH;
    }
  }
  [[unroll]] for (uint i = 0; i < PIECES; ++i) sum += total(v[i]);
  const float mean = count > 0.0 ? sum / count : 0.0;
  [[unroll]] for (uint i = 0; i < PIECES; ++i) {
    const PIECE d = v[i] - mean;
    if (lane + i * LANES < pieces) squares += total(d * d);
  }
  const vec2 stats = mean_and_scale(row_reduce(vec3(count, mean, squares)), p.eps);
  [[unroll]] for (uint i = 0; i < PIECES; ++i) {
    const uint at = lane + i * LANES;
    if (at < pieces) {
      const PIECE d = (v[i] - stats.x) * stats.y;
#if AFFINE
      const uint w = row % p.weight_rows * pieces + at;
      STORE_PIECE(Y, y, at,
                  d * LOAD_PIECE(WEIGHT, p.weight, w) + LOAD_PIECE(BIASES, p.bias, w));
#else
      STORE_PIECE(Y, y, at, d);
#endif
    }
  }
}
