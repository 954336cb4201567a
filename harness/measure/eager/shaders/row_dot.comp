// Products of contiguous rows with one vector. A row may be split over several workgroups, each
// writing a partial sum that a second launch adds up.
//   LANES  invocations a row
//   WIDTH  4 where every row starts on a 16-byte boundary and its length is a multiple of 4
#version 450
#extension GL_GOOGLE_include_directive : require
#define ACC float
#include "tensor.glsl"
#include "pieces.glsl"
float combine(float a, float b) { return a + b; }
#include "row_reduce.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, vector, y;
  uint rows;
  uint n;
  uint splits;        // workgroups a row
  uint split_length;  // elements each takes, a multiple of WIDTH
  uint groups;
}
p;

const uint kDepth = 4;  // loads of the row in flight

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint split = group % p.splits;
  const uint row = group / p.splits * kRows + gl_LocalInvocationIndex / LANES;
  const uint begin = split * p.split_length;
  const uint end = row < p.rows ? min(p.n, begin + p.split_length) : begin;
  const uint pieces = (end - begin) / WIDTH;
  IN x = IN(advance(p.x, uint64_t(row) * p.n + begin));
  IN v = IN(advance(p.vector, begin));
  float chain[2] = float[2](0.0, 0.0);
  uint i = gl_LocalInvocationIndex % LANES;
  for (; i + (kDepth - 1) * LANES < pieces; i += kDepth * LANES) {
    PIECE q[kDepth];
    [[unroll]] for (uint j = 0; j < kDepth; ++j) q[j] = x.at[i + j * LANES];
    [[unroll]] for (uint j = 0; j < kDepth; ++j) {
      chain[j % 2] += dot(q[j], v.at[i + j * LANES]);
    }
  }
  for (; i < pieces; i += LANES) chain[0] += dot(x.at[i], v.at[i]);
  const float sum = row_reduce(chain[0] + chain[1]);
  if (gl_LocalInvocationIndex % LANES == 0 && row < p.rows) {
    FloatsOut(advance(p.y, uint64_t(row) * p.splits + split)).at[0] = sum;
  }
}
