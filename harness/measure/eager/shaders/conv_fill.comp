// Fills a convolution's output, [images][channels][plane], with its bias or zero.
#version 450
#extension GL_GOOGLE_include_directive : require
#define Y STORED_0
#define BIASES STORED_1
#include "pieces.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t y;
#if BIAS
  uint64_t bias;
#endif
  uint plane;  // pieces of WIDTH elements
  uint channels;
  uint pieces;
  uint groups;
}
p;

void main() {
  const uint group = group_index();
  const uint piece = group * THREADS + gl_LocalInvocationID.x;
  if (group >= p.groups || piece >= p.pieces) return;
  float v = 0.0;
#if BIAS
  v = LOAD(BIASES, p.bias, piece / p.plane % p.channels);
#endif
  STORE_PIECE(Y, ADVANCE(Y, p.y, uint64_t(piece) * WIDTH), 0, PIECE(v));
}
