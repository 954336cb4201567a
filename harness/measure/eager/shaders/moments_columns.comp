// Mean and variance of each column of [n, columns]. Neighbouring invocations take neighbouring
// columns; LANES share a column, which may be split over workgroups. Writes (count, mean, squares)
// to parts[column][split], for moments_merge.comp.
//   COLUMNS  invocations along the columns, each taking WIDTH of them
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#include "pieces.glsl"
#include "moments.glsl"

layout(local_size_x = COLUMNS, local_size_y = LANES) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, parts;
  uint n;
  uint columns;
  uint blocks;  // of COLUMNS * WIDTH columns
  uint splits;
  uint split_length;
  uint groups;
}
p;

#if WIDTH == 4
float part(vec4 v, uint i) { return v[i]; }
#else
float part(float v, uint i) { return v; }
#endif
const uint kDepth = 8;  // loads in flight

shared vec3 space[LANES][COLUMNS];

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint lane = gl_LocalInvocationID.y;
  const uint column = (group % p.blocks * COLUMNS + gl_LocalInvocationID.x) * WIDTH;
  const uint split = group / p.blocks;
  const uint begin = split * p.split_length + lane;
  const uint end = column < p.columns ? min(p.n, (split + 1) * p.split_length) : 0;
  const uint64_t base = ADVANCE(X, p.x, column);
  const uint64_t row = ADVANCE(X, 0ul, p.columns);

  // Deviations from this invocation's first row, as in moments.comp.
  PIECE shift = PIECE(0.0), sum = PIECE(0.0), squares = PIECE(0.0);
  float count = 0.0;
  uint i = begin;
  if (i < end) shift = LOAD_PIECE(X, base + i * row, 0);
  for (; i + (kDepth - 1) * LANES < end; i += kDepth * LANES) {
    PIECE v[kDepth];
    [[unroll]] for (uint j = 0; j < kDepth; ++j) {
      v[j] = LOAD_PIECE(X, base + (i + j * LANES) * row, 0);
    }
    [[unroll]] for (uint j = 0; j < kDepth; ++j) {
      const PIECE d = v[j] - shift;
      sum += d;
      squares += d * d;
    }
    count += kDepth;
  }
  for (; i < end; i += LANES) {
    const PIECE d = LOAD_PIECE(X, base + i * row, 0) - shift;
    sum += d;
    squares += d * d;
    count += 1.0;
  }
  const PIECE mean = count > 0.0 ? sum / count : sum;
  const PIECE about_mean = squares - sum * mean;
  [[unroll]] for (uint w = 0; w < WIDTH; ++w) {
    barrier();
    space[lane][gl_LocalInvocationID.x] =
        vec3(count, part(shift, w) + part(mean, w), part(about_mean, w));
    barrier();
    for (uint distance = LANES / 2; distance > 0; distance >>= 1) {
      if (lane < distance) {
        space[lane][gl_LocalInvocationID.x] = combine(
            space[lane][gl_LocalInvocationID.x], space[lane + distance][gl_LocalInvocationID.x]);
      }
      barrier();
    }
    if (lane == 0 && column < p.columns) {
      const vec3 acc = space[0][gl_LocalInvocationID.x];
      const uint64_t to =
          ADVANCE(f32, p.parts, (uint64_t(column + w) * p.splits + split) * 3ul);
      STORE(f32, to, 0, acc.x);
      STORE(f32, to, 1, acc.y);
      STORE(f32, to, 2, acc.z);
    }
  }
}
