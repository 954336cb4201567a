// A convolution's weight, transformed along its outermost window dimension for minimal filtering
// at the points 0, 1, -1, 2, -2 and infinity: [out channels, channels a group, WINDOW, inner] to
// [point][out channel][channel][inner].
//   WINDOW     3 to 5
//   BACKWARDS  1 for a transposed convolution: [channels, out channels a group, WINDOW, inner],
//              read from its last position to its first
#version 450
#extension GL_GOOGLE_include_directive : require
#define WEIGHT STORED_0
#include "tensor.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t weight, transformed;
  uint group_channels;
  uint group_out_channels;
  uint inner;
  uint elements;  // of one point
  uint groups;
}
p;

/// The window as a polynomial's coefficients, at `point`.
float at_point(float w[WINDOW], float point, float scale) {
  float v = w[WINDOW - 1];
  for (int i = WINDOW - 2; i >= 0; --i) v = fma(v, point, w[i]);
  return v * scale;
}

void main() {
  const uint group = group_index();
  const uint element = group * THREADS + gl_LocalInvocationID.x;
  if (group >= p.groups || element >= p.elements) return;
  const uint place = element % p.inner, pair = element / p.inner;
#if BACKWARDS
  const uint channel = pair % p.group_channels, out_channel = pair / p.group_channels;
  const uint part = out_channel / p.group_out_channels;
  const uint from = (part * p.group_channels + channel) * p.group_out_channels +
                    out_channel % p.group_out_channels;
  const uint64_t w = ADVANCE(WEIGHT, p.weight, uint64_t(from) * WINDOW * p.inner);
#else
  const uint64_t w = ADVANCE(WEIGHT, p.weight, uint64_t(pair) * WINDOW * p.inner);
#endif
  float window[WINDOW];
  for (int i = 0; i < WINDOW; ++i) {
#if BACKWARDS
    window[i] = LOAD(WEIGHT, w, (WINDOW - 1 - i) * p.inner + (p.inner - 1 - place));
#else
    window[i] = LOAD(WEIGHT, w, i * p.inner + place);
#endif
  }
  const uint64_t u = ADVANCE(f32, p.transformed, element);
  STORE(f32, u, 0, window[0] * 0.25);
  STORE(f32, u, p.elements, at_point(window, 1.0, -1.0 / 6.0));
  STORE(f32, u, 2 * p.elements, at_point(window, -1.0, -1.0 / 6.0));
  STORE(f32, u, 3 * p.elements, at_point(window, 2.0, 1.0 / 24.0));
  STORE(f32, u, 4 * p.elements, at_point(window, -2.0, 1.0 / 24.0));
  STORE(f32, u, 5 * p.elements, window[WINDOW - 1]);
}
