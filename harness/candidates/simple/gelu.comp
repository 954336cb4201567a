// y = x * Phi(x), Phi the normal distribution function: GELU in its exact form.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant) uniform Push {
  uint64_t x, y;   // addresses
  uint64_t count;  // elements
};

void main() {
  uint64_t i = folded_thread();
  if (i >= count) return;
  float v = AT(x, i);
  AT(y, i) = 0.5 * v * (1.0 + erf(v * 0.70710678));
}
