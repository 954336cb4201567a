// Running sums, or with PRODUCT running products, along the middle dimension of [outer, n, inner],
// inner > 1: an invocation walks one column, neighbours walk neighbouring columns.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
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
      v[j] = LOAD(X, ADVANCE(X, p.x, first + uint64_t(i + j) * p.inner), 0);
    }
    [[unroll]] for (uint j = 0; j < kDepth; ++j) {
      sum = join(sum, v[j]);
      STORE(Y, ADVANCE(Y, p.y, first + uint64_t(i + j) * p.inner), 0, sum);
    }
  }
  for (; i < p.n; ++i) {
    const uint64_t at = first + uint64_t(i) * p.inner;
    sum = join(sum, LOAD(X, ADVANCE(X, p.x, at), 0));
    STORE(Y, ADVANCE(Y, p.y, at), 0, sum);
  }
}
