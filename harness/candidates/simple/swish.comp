// y = x * sigmoid(x), one element a thread.
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
  AT(y, i) = v / (1.0 + exp(-v));
}
