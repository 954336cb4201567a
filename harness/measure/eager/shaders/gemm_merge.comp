// Adds up the partial products of a matrix product whose depth was split, and the bias: an element
// a column, or where CHANNELS > 0 one for each of so many planes of n elements.
#version 450
#extension GL_GOOGLE_include_directive : require
#define C STORED_1
#define BIASES STORED_2
#include "pieces.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t parts, c;
#if BIAS
  uint64_t bias;
#endif
  uint pieces;  // of WIDTH elements
  uint n;       // columns
  uint splits;
  uint groups;
}
p;

void main() {
  const uint group = group_index();
  const uint piece = group * THREADS + gl_LocalInvocationID.x;
  if (group >= p.groups || piece >= p.pieces) return;
  const uint64_t at = uint64_t(piece) * WIDTH;
  PIECE sum = PIECE(0.0);
  for (uint s = 0; s < p.splits; ++s) {
    sum += LOAD_PIECE(f32, ADVANCE(f32, p.parts, uint64_t(s) * p.pieces * WIDTH + at), 0);
  }
#if BIAS
#if CHANNELS > 0
  sum += LOAD(BIASES, p.bias, piece / (p.n / WIDTH) % CHANNELS);
#else
  sum += LOAD_PIECE(BIASES, ADVANCE(BIASES, p.bias, piece * WIDTH % p.n), 0);
#endif
#endif
  STORE_PIECE(C, ADVANCE(C, p.c, at), 0, sum);
}
