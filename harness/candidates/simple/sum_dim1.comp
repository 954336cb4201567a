// Sum of x [BATCH, LENGTH, COLS] over LENGTH, one output a thread: neighbouring threads own
// neighbouring columns and so read neighbouring floats at every step.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant) uniform Push {
  uint64_t x, y;  // addresses
};

void main() {
  uint i = uint(folded_thread());
  if (i >= BATCH * COLS) return;
  uint64_t first = uint64_t(i / COLS) * LENGTH * COLS + i % COLS;
  float sum = 0.0;
  for (uint r = 0; r < LENGTH; ++r) sum += AT(x, first + uint64_t(r) * COLS);
  AT(y, i) = sum;
}
