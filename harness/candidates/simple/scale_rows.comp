// output = diag(A) B: every row of B times one number, one element a thread.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = THREADS) in;
layout(std430, set = 0, binding = 0) readonly buffer A { float a[]; };
layout(std430, set = 0, binding = 1) readonly buffer B { float b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Output { float result[]; };

void main() {
  uint i = uint(folded_thread());
  if (i >= ROWS * COLS) return;
  result[i] = a[i / COLS] * b[i];
}
