// Batch normalisation, second step: y = (x - mean) * scale * weight + bias with the channel's
// numbers, one element a thread. x is [.., CHANNELS, PLANE].
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant) uniform Push {
  uint64_t x, mean, scale, weight, bias, y;  // addresses
  uint64_t count;                            // elements of x
};

void main() {
  uint64_t i = folded_thread();
  if (i >= count) return;
  uint channel = uint(i / PLANE) % CHANNELS;
  float normal = (AT(x, i) - AT(mean, channel)) * AT(scale, channel);
  AT(y, i) = normal * AT(weight, channel) + AT(bias, channel);
}
