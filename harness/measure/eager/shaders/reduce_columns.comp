// Reduces the middle dimension of [outer, n, inner], inner > 1: see reduce_items.glsl for what.
// Neighbouring invocations take neighbouring columns; LANES invocations share a column, and a
// column may be split over several workgroups, each writing a partial result to
// [outer, splits, inner] that a second launch reduces.
//   COLUMNS  invocations along the columns, each taking WIDTH of them (4 where inner % 4 == 0)
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#include "pieces.glsl"
#include "reduce_items.glsl"

layout(local_size_x = COLUMNS, local_size_y = LANES) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint n;
  uint inner;
  uint blocks;  // of COLUMNS * WIDTH columns
  uint splits;  // workgroups along n
  uint split_length;
  uint groups;
  float scale;  // of a sum
}
p;

const uint kDepth = 8;  // loads in flight

shared ACC space[LANES][COLUMNS];

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint lane = gl_LocalInvocationID.y;
  const uint block = group % p.blocks;
  const uint split = group / p.blocks % p.splits;
  const uint outer = group / p.blocks / p.splits;
  const uint column = (block * COLUMNS + gl_LocalInvocationID.x) * WIDTH;
  const uint begin = split * p.split_length;
  const uint end = column < p.inner ? min(p.n, begin + p.split_length) : begin;
  const uint64_t first = uint64_t(outer) * p.n * p.inner + column;

  ACC chain[2][WIDTH];
  [[unroll]] for (uint w = 0; w < WIDTH; ++w) chain[0][w] = chain[1][w] = kIdentity;
  uint i = begin + lane;
#if !FROM_PARTS
  for (; i + (kDepth - 1) * LANES < end; i += kDepth * LANES) {
    PIECE v[kDepth];
    [[unroll]] for (uint j = 0; j < kDepth; ++j) {
      v[j] = LOAD_PIECE(X, ADVANCE(X, p.x, first + uint64_t(i + j * LANES) * p.inner), 0);
    }
    [[unroll]] for (uint j = 0; j < kDepth; ++j) {
#if WIDTH == 4
      [[unroll]] for (uint w = 0; w < WIDTH; ++w) {
        chain[j % 2][w] = fold(chain[j % 2][w], v[j][w], i + j * LANES);
      }
#else
      chain[j % 2][0] = fold(chain[j % 2][0], v[j], i + j * LANES);
#endif
    }
  }
#endif
  for (; i < end; i += LANES) {
    [[unroll]] for (uint w = 0; w < WIDTH; ++w) {
      chain[0][w] = read_folded(chain[0][w], p.x, first + uint64_t(i) * p.inner + w, i);
    }
  }
  [[unroll]] for (uint w = 0; w < WIDTH; ++w) {
    ACC total = combine(chain[0][w], chain[1][w]);
#if LANES > 1
    barrier();
    space[lane][gl_LocalInvocationID.x] = total;
    barrier();
    for (uint distance = LANES / 2; distance > 0; distance >>= 1) {
      if (lane < distance) {
        space[lane][gl_LocalInvocationID.x] = combine(
            space[lane][gl_LocalInvocationID.x], space[lane + distance][gl_LocalInvocationID.x]);
      }
      barrier();
    }
    total = space[0][gl_LocalInvocationID.x];
#endif
    if (lane == 0 && column < p.inner) {
      write_result(p.y, (uint64_t(outer) * p.splits + split) * p.inner + column + w, total,
                   p.scale);
    }
  }
}
