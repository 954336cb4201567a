// y = x / sqrt(number): the scaling of attention scores by their vectors' length.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant) uniform Push {
  uint64_t x, y;   // addresses
  uint64_t count;  // elements
  float number;
};

void main() {
  uint64_t i = folded_thread();
  if (i >= count) return;
  float v = AT(x, i);
  AT(y, i) = v / sqrt(number);
}
