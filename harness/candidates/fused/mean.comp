// The mean of COUNT numbers, by one workgroup.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "workgroup.glsl"

layout(local_size_x = THREADS) in;
layout(std430, set = 0, binding = 0) restrict readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) restrict writeonly buffer Y { KB_REAL y[]; };

void main() {
  float sum = 0.0;
  for (uint i = gl_LocalInvocationIndex; i < COUNT; i += THREADS) sum += x[i];
  sum = workgroup_sum(sum);
  if (gl_LocalInvocationIndex == 0) y[0] = KB_FROM_FLOAT(sum / float(COUNT));
}
