// Draws a tensor and takes the softmax of each row, a workgroup a row, in float64: the values
// kbench::draw gives on the host, bit for bit. The exponential mirrors libkbench/core/draw_math.h;
// the order of a sum is that of softmax_rows() in libkbench/core/draw.cc.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "draw_common.glsl"

shared double partial[256];

double exp_of(double x) {
  precise double k = x * 1.44269504088896340736lf;
  k = floor(k + 0.5lf);
  precise double r = x - k * 6.93147180369123816490e-01lf;
  r = r - k * 1.90821492927058770002e-10lf;
  precise double p = 1.0lf / 6227020800.0lf;
  p = p * r + 1.0lf / 479001600.0lf;
  p = p * r + 1.0lf / 39916800.0lf;
  p = p * r + 1.0lf / 3628800.0lf;
  p = p * r + 1.0lf / 362880.0lf;
  p = p * r + 1.0lf / 40320.0lf;
  p = p * r + 1.0lf / 5040.0lf;
  p = p * r + 1.0lf / 720.0lf;
  p = p * r + 1.0lf / 120.0lf;
  p = p * r + 1.0lf / 24.0lf;
  p = p * r + 1.0lf / 6.0lf;
  p = p * r + 0.5lf;
  p = p * r + 1.0lf;
  p = p * r + 1.0lf;
  precise double result = p * packDouble2x32(uvec2(0u, uint(1023 + int(k)) << 20));
  return result;
}

double weight_of(uint64_t element) {
  return exp_of(double(drawn_quad(element / 4ul, name)[uint(element % 4ul)]));
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  for (uint turn = 0u; turn < iterations; ++turn) {
    const uint row = turn * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (row >= rows) break;
    const uint64_t first = uint64_t(row) * uint64_t(columns);
    precise double sum = 0.0lf;
    for (uint column = lane; column < columns; column += 256u) {
      sum = sum + weight_of(first + uint64_t(column));
    }
    partial[lane] = sum;
    barrier();
    for (uint stride = 128u; stride > 0u; stride >>= 1) {
      if (lane < stride) {
        precise double pair = partial[lane] + partial[lane + stride];
        partial[lane] = pair;
      }
      barrier();
    }
    const double total = partial[0];
    for (uint column = lane; column < columns; column += 256u) {
      const uint64_t element = first + uint64_t(column);
      precise double share = weight_of(element) / total;
      Word(base + element * 4ul).v = floatBitsToUint(float(share));
    }
    barrier();
  }
}
