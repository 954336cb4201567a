// Running sums, or with PRODUCT running products, along the middle dimension of [outer, n, inner],
// inner > 1: an invocation walks one column, neighbours walk neighbouring columns.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "tensor.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint n;
  uint inner;
  uint columns;  // outer * inner
  uint groups;
}
p;

const uint kDepth = 8;  // loads in flight

#if PRODUCT
const float kFirst = 1.0;
float join(float a, float b) { return a * b; }
#else
const float kFirst = 0.0;
float join(float a, float b) { return a + b; }
#endif

void main() {
  const uint group = group_index();
  const uint column = group * THREADS + gl_LocalInvocationID.x;
  if (group >= p.groups || column >= p.columns) return;
  const uint64_t first = uint64_t(column / p.inner) * p.n * p.inner + column % p.inner;
  float sum = kFirst;
  uint i = 0;
  for (; i + kDepth <= p.n; i += kDepth) {
    float v[kDepth];
    [[unroll]] for (uint j = 0; j < kDepth; ++j) {
      v[j] = FloatsIn(advance(p.x, first + uint64_t(i + j) * p.inner)).at[0];
    }
    [[unroll]] for (uint j = 0; j < kDepth; ++j) {
      sum = join(sum, v[j]);
      FloatsOut(advance(p.y, first + uint64_t(i + j) * p.inner)).at[0] = sum;
    }
  }
  for (; i < p.n; ++i) {
    const uint64_t at = first + uint64_t(i) * p.inner;
    sum = join(sum, FloatsIn(advance(p.x, at)).at[0]);
    FloatsOut(advance(p.y, at)).at[0] = sum;
  }
}
