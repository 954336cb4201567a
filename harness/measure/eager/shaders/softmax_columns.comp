// Softmax of the middle dimension of [outer, n, inner], inner > 1, or with LOGSUM its log-sum-exp.
// Neighbouring invocations take neighbouring columns; LANES of them share one.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#define FOLD 8
#include "tensor.glsl"
#include "softmax_pair.glsl"

layout(local_size_x = COLUMNS, local_size_y = LANES) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint n;
  uint inner;
  uint blocks;  // of COLUMNS columns
  uint groups;
}
p;

shared vec2 space[LANES][COLUMNS];

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint lane = gl_LocalInvocationID.y;
  const uint column = group % p.blocks * COLUMNS + gl_LocalInvocationID.x;
  const uint end = column < p.inner ? p.n : 0;
  const uint64_t first = uint64_t(group / p.blocks) * p.n * p.inner + column;

  vec2 pair = EMPTY_PAIR;
  for (uint i = lane; i < end; i += FOLD * LANES) {
    float v[FOLD];
    [[unroll]] for (uint j = 0; j < FOLD; ++j) {
      v[j] = -INFINITY;
      if (i + j * LANES < end) {
        v[j] = LOAD(X, ADVANCE(X, p.x, first + uint64_t(i + j * LANES) * p.inner), 0);
      }
    }
    pair = fold(pair, v);
  }
  space[lane][gl_LocalInvocationID.x] = pair;
  barrier();
  pair = space[0][gl_LocalInvocationID.x];
  for (uint l = 1; l < LANES; ++l) pair = combine(pair, space[l][gl_LocalInvocationID.x]);
#if LOGSUM
  if (lane == 0 && column < p.inner) {
    const uint64_t at = uint64_t(group / p.blocks) * p.inner + column;
    STORE(Y, ADVANCE(Y, p.y, at), 0, log_sum(pair));
  }
#else
  const float scale = scale_of(pair);
  for (uint i = lane; i < end; i += LANES) {
    const uint64_t at = first + uint64_t(i) * p.inner;
    STORE(Y, ADVANCE(Y, p.y, at), 0, applied(LOAD(X, ADVANCE(X, p.x, at), 0), pair, scale));
  }
#endif
}
