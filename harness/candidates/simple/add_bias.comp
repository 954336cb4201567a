// y = x + bias, one element a thread. x is [.., CHANNELS, INNER], bias is [CHANNELS].
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant) uniform Push {
  uint64_t x, bias, y;  // addresses
  uint64_t count;       // elements of x
};

void main() {
  uint64_t i = folded_thread();
  if (i >= count) return;
  uint channel = uint(i / INNER) % CHANNELS;
  AT(y, i) = AT(x, i) + AT(bias, channel);
}
