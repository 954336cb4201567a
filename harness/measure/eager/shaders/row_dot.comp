// Products of contiguous rows with one vector. A row may be split over several workgroups, each
// writing a partial sum that a second launch adds up.
//   LANES  invocations a row
//   WIDTH  4 where every row starts on, and its length is, a multiple of four elements
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define VECTOR STORED_1
#define Y STORED_2
#define ACC float
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
  const uint64_t x = ADVANCE(X, p.x, uint64_t(row) * p.n + begin);
  const uint64_t v = ADVANCE(VECTOR, p.vector, begin);
  float chain[2] = float[2](0.0, 0.0);
  uint i = gl_LocalInvocationIndex % LANES;
  for (; i + (kDepth - 1) * LANES < pieces; i += kDepth * LANES) {
    PIECE q[kDepth];
    [[unroll]] for (uint j = 0; j < kDepth; ++j) q[j] = LOAD_PIECE(X, x, i + j * LANES);
    [[unroll]] for (uint j = 0; j < kDepth; ++j) {
      chain[j % 2] += dot(q[j], LOAD_PIECE(VECTOR, v, i + j * LANES));
    }
  }
  for (; i < pieces; i += LANES) {
    chain[0] += dot(LOAD_PIECE(X, x, i), LOAD_PIECE(VECTOR, v, i));
  }
  const float sum = row_reduce(chain[0] + chain[1]);
  if (gl_LocalInvocationIndex % LANES == 0 && row < p.rows) {
    STORE(Y, ADVANCE(Y, p.y, uint64_t(row) * p.splits + split), 0, sum);
  }
}
