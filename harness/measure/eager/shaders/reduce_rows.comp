// Reduces contiguous rows of n elements: see reduce_items.glsl for what. A row may be split over
// several workgroups, each writing a partial result that a second launch reduces.
//   LANES  invocations a row
//   WIDTH  4 where every row starts on, and its length is, a multiple of four elements
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#include "tensor.glsl"
#include "reduce_items.glsl"
#include "row_reduce.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint rows;
  uint n;
  uint splits;        // workgroups a row
  uint split_length;  // elements each takes, a multiple of WIDTH
  uint groups;
  float scale;  // of a sum
}
p;

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint lane = gl_LocalInvocationIndex % LANES;
  const uint split = group % p.splits;
  const uint row = group / p.splits * kRows + gl_LocalInvocationIndex / LANES;
  const uint begin = split * p.split_length;
  const uint end = row < p.rows ? min(p.n, begin + p.split_length) : begin;
  const uint64_t first = uint64_t(row) * p.n + begin;
  const uint count = end - begin;

  // Four chains: rounding errors stay small and additions need not wait for each other.
  ACC chain[4] = ACC[4](kIdentity, kIdentity, kIdentity, kIdentity);
#if WIDTH == 4
  const uint64_t x = ADVANCE(X, p.x, first);
  uint i = lane;
  const uint stop = count / 4;
  for (; i + 3 * LANES < stop; i += 4 * LANES) {
    vec4 v[4];
    [[unroll]] for (uint j = 0; j < 4; ++j) v[j] = LOAD4(X, x, i + j * LANES);
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      [[unroll]] for (uint c = 0; c < 4; ++c) {
        chain[c] = fold(chain[c], v[j][c], begin + (i + j * LANES) * 4 + c);
      }
    }
  }
  for (; i < stop; i += LANES) {
    const vec4 v = LOAD4(X, x, i);
    [[unroll]] for (uint c = 0; c < 4; ++c) chain[c] = fold(chain[c], v[c], begin + i * 4 + c);
  }
#else
  uint i = lane;
  for (; i + 3 * LANES < count; i += 4 * LANES) {
    [[unroll]] for (uint c = 0; c < 4; ++c) {
      chain[c] = read_folded(chain[c], p.x, first + (i + c * LANES), begin + i + c * LANES);
    }
  }
  for (; i < count; i += LANES) chain[0] = read_folded(chain[0], p.x, first + i, begin + i);
#endif
  const ACC total =
      row_reduce(combine(combine(chain[0], chain[1]), combine(chain[2], chain[3])));
  if (lane == 0 && row < p.rows) {
    write_result(p.y, uint64_t(row) * p.splits + split, total, p.scale);
  }
}
