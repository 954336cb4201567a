// Cross entropy, first step: the loss of each row, ln(sum(exp(x))) - x[target], one workgroup a row
// of CLASSES logits. The maximum is taken out of the exponentials so that none overflows.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "reduce.glsl"

layout(local_size_x = THREADS) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Target { uvec2 target[]; };  // 64-bit integers
layout(std430, set = 0, binding = 2) writeonly buffer Loss { float loss[]; };

void main() {
  uint row = folded_group();
  if (row >= ROWS) return;
  uint t = gl_LocalInvocationID.x;
  uint first = row * CLASSES;

  float largest = x[first];
  for (uint i = t; i < CLASSES; i += THREADS) largest = max(largest, x[first + i]);
  largest = workgroup_max(largest);

  float sum = 0.0;
  for (uint i = t; i < CLASSES; i += THREADS) sum += exp(x[first + i] - largest);
  sum = workgroup_sum(sum);

  if (t == 0) loss[row] = log(sum) + largest - x[first + target[row].x];
}
