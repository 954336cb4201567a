// Softmax over the last dimension, one workgroup a row, in three passes: the maximum (so that no
// exponential overflows), the sum of exponentials, the quotients.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"
#include "reduce.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant) uniform Push {
  uint64_t x, y;  // addresses
};

void main() {
  uint row = folded_group();
  if (row >= ROWS) return;
  uint t = gl_LocalInvocationID.x;
  uint64_t x0 = x + 4ul * uint64_t(row) * COLS;
  uint64_t y0 = y + 4ul * uint64_t(row) * COLS;

  float largest = AT(x0, 0);
  for (uint i = t; i < COLS; i += THREADS) largest = max(largest, AT(x0, i));
  largest = workgroup_max(largest);

  float sum = 0.0;
  for (uint i = t; i < COLS; i += THREADS) sum += exp(AT(x0, i) - largest);
  sum = workgroup_sum(sum);

  for (uint i = t; i < COLS; i += THREADS) AT(y0, i) = exp(AT(x0, i) - largest) / sum;
}
