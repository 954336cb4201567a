// Fills a convolution's output, [images][channels][plane], with its bias or zero.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "tensor.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
#if BIAS
  uint64_t bias;
#endif
  uint64_t y;
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
  v = FloatsIn(p.bias).at[piece / p.plane % p.channels];
#endif
#if WIDTH == 4
  Vec4sOut(advance(p.y, uint64_t(piece) * WIDTH)).at[0] = vec4(v);
#else
  FloatsOut(advance(p.y, piece)).at[0] = v;
#endif
}
