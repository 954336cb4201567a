// The log-sum-exp of contiguous rows, or with PARTS of the pairs that softmax_stats.comp left.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#include "tensor.glsl"
#include "softmax_scan.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint rows;
  uint n;
  uint groups;
}
p;

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint row = group * kRows + gl_LocalInvocationIndex / LANES;
  const uint n = row < p.rows ? p.n : 0;
#if PARTS
  const uint64_t parts = ADVANCE(f32, p.x, uint64_t(row) * p.n * 2ul);
  vec2 pair = EMPTY_PAIR;
  for (uint i = gl_LocalInvocationIndex % LANES; i < n; i += LANES) {
    pair = combine(pair, vec2(LOAD(f32, parts, 2 * i), LOAD(f32, parts, 2 * i + 1)));
  }
  pair = row_reduce(pair);
#else
  const vec2 pair = scan_row(ADVANCE(X, p.x, uint64_t(row) * p.n), n);
#endif
  if (gl_LocalInvocationIndex % LANES == 0 && row < p.rows) {
    STORE(Y, ADVANCE(Y, p.y, row), 0, log_sum(pair));
  }
}
