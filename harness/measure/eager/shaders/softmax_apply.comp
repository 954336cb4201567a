// Finishes long rows: merges the row's pairs, then writes this split's elements.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_2
#define LANES THREADS
#include "pieces.glsl"
#include "softmax_pair.glsl"
#include "row_reduce.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, parts, y;
  uint n;
  uint splits;
  uint split_length;  // a multiple of WIDTH
  uint groups;
}
p;

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint row = group / p.splits;
  const uint begin = group % p.splits * p.split_length;
  const uint stop = (min(p.n, begin + p.split_length) - begin) / WIDTH;
  const uint64_t parts = ADVANCE(f32, p.parts, uint64_t(row) * p.splits * 2ul);
  vec2 pair = EMPTY_PAIR;
  for (uint i = gl_LocalInvocationIndex; i < p.splits; i += THREADS) {
    pair = combine(pair, vec2(LOAD(f32, parts, 2 * i), LOAD(f32, parts, 2 * i + 1)));
  }
  pair = row_reduce(pair);
  const float scale = scale_of(pair);
  const uint64_t first = uint64_t(row) * p.n + begin;
  const uint64_t x = ADVANCE(X, p.x, first);
  const uint64_t y = ADVANCE(Y, p.y, first);
  uint i = gl_LocalInvocationIndex;
  for (; i + 3 * THREADS < stop; i += 4 * THREADS) {
    PIECE v[4];
    [[unroll]] for (uint j = 0; j < 4; ++j) v[j] = LOAD_PIECE(X, x, i + j * THREADS);
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      STORE_PIECE(Y, y, i + j * THREADS, applied(v[j], pair, scale));
    }
  }
  for (; i < stop; i += THREADS) {
    STORE_PIECE(Y, y, i, applied(LOAD_PIECE(X, x, i), pair, scale));
  }
}
