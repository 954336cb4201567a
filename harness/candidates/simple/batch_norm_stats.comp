// Batch normalisation, first step: mean and 1 / sqrt(variance + eps) of every channel of
// x [BATCH, CHANNELS, PLANE], one workgroup a channel. The variance takes a second pass around the
// mean: E[x^2] - E[x]^2 would cancel. Each image's part is summed by itself before it joins the
// total, so that no chain of float additions grows long.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"
#include "reduce.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant) uniform Push {
  uint64_t x, mean_out, scale_out;  // addresses
};

void main() {
  uint channel = gl_WorkGroupID.x;
  uint t = gl_LocalInvocationID.x;
  float count = float(BATCH) * float(PLANE);

  float total = 0.0;
  for (uint n = 0; n < BATCH; ++n) {
    uint64_t plane = x + 4ul * (uint64_t(n) * CHANNELS + channel) * PLANE;
    float sum = 0.0;
    for (uint i = t; i < PLANE; i += THREADS) sum += AT(plane, i);
    total += sum;
  }
  float mean = workgroup_sum(total) / count;

  total = 0.0;
  for (uint n = 0; n < BATCH; ++n) {
    uint64_t plane = x + 4ul * (uint64_t(n) * CHANNELS + channel) * PLANE;
    float sum = 0.0;
    for (uint i = t; i < PLANE; i += THREADS) {
      float d = AT(plane, i) - mean;
      sum += d * d;
    }
    total += sum;
  }
  float variance = workgroup_sum(total) / count;

  if (t == 0) {
    AT(mean_out, channel) = mean;
    AT(scale_out, channel) = inversesqrt(variance + 1e-5);
  }
}
