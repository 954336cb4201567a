// Running sums along the rows of x [ROWS, COLS], one workgroup a row. A row is taken 256 elements
// at a time: after log2(256) doubling steps in shared memory element t holds the sum of elements
// 0..t, and what all earlier pieces add up to is carried along.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant) uniform Push {
  uint64_t x, y;  // addresses
};

shared float piece[THREADS];

void main() {
  uint row = folded_group();
  if (row >= ROWS) return;
  uint t = gl_LocalInvocationID.x;
  uint64_t first = uint64_t(row) * COLS;

  float carry = 0.0;
  for (uint i0 = 0; i0 < COLS; i0 += THREADS) {
    uint i = i0 + t;
    piece[t] = i < COLS ? AT(x, first + i) : 0.0;
    barrier();
    for (uint distance = 1; distance < THREADS; distance *= 2) {
      float before = t >= distance ? piece[t - distance] : 0.0;
      barrier();  // all have read before any writes
      piece[t] += before;
      barrier();
    }
    if (i < COLS) AT(y, first + i) = carry + piece[t];
    carry += piece[THREADS - 1];
    barrier();  // all have read the total before the next piece overwrites it
  }
}
