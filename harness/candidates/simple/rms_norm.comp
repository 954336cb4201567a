// y = x / sqrt(mean(x^2) + eps), the mean over CHANNELS of x [BATCH, CHANNELS, PLANE]. One thread a
// position of the plane: neighbours read neighbouring floats at every channel.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant) uniform Push {
  uint64_t x, y;  // addresses
};

void main() {
  uint64_t i = folded_thread();
  if (i >= uint64_t(BATCH) * PLANE) return;
  uint64_t first = i / PLANE * CHANNELS * PLANE + i % PLANE;

  float sum = 0.0;
  for (uint c = 0; c < CHANNELS; ++c) {
    float v = AT(x, first + uint64_t(c) * PLANE);
    sum += v * v;
  }
  float scale = 1.0 / sqrt(sum / float(CHANNELS) + 1e-5);
  for (uint c = 0; c < CHANNELS; ++c) {
    uint64_t at = first + uint64_t(c) * PLANE;
    AT(y, at) = AT(x, at) * scale;
  }
}
