// The mean of COUNT numbers, by one workgroup.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "reduce.glsl"

layout(local_size_x = THREADS) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Y { float y[]; };

void main() {
  uint t = gl_LocalInvocationID.x;
  float sum = 0.0;
  for (uint i = t; i < COUNT; i += THREADS) sum += x[i];
  sum = workgroup_sum(sum);
  if (t == 0) y[0] = sum / float(COUNT);
}
