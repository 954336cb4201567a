// Layer normalisation, one workgroup a row of LENGTH elements, in three passes: mean, variance
// around the mean, and the normalised values with their own weight and bias each.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "reduce.glsl"

layout(local_size_x = THREADS) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Weight { float weight[]; };
layout(std430, set = 0, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Y { float y[]; };

void main() {
  uint t = gl_LocalInvocationID.x;
  uint first = gl_WorkGroupID.x * LENGTH;

  float sum = 0.0;
  for (uint i = t; i < LENGTH; i += THREADS) sum += x[first + i];
  float mean = workgroup_sum(sum) / float(LENGTH);

  sum = 0.0;
  for (uint i = t; i < LENGTH; i += THREADS) {
    float d = x[first + i] - mean;
    sum += d * d;
  }
  float scale = inversesqrt(workgroup_sum(sum) / float(LENGTH) + 1e-5);

  for (uint i = t; i < LENGTH; i += THREADS) {
    y[first + i] = (x[first + i] - mean) * scale * weight[i] + bias[i];
  }
}
