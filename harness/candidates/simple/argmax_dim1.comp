// Where the maximum of x [BATCH, LENGTH, COLS] over LENGTH stands (the first of equals), one output
// a thread. The result is a 64-bit integer: two 32-bit words, low word first.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

layout(local_size_x = THREADS) in;
layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer Int64 {
  uvec2 words;
};
layout(push_constant) uniform Push {
  uint64_t x, y;  // addresses
};

void main() {
  uint i = uint(folded_thread());
  if (i >= BATCH * COLS) return;
  uint64_t first = uint64_t(i / COLS) * LENGTH * COLS + i % COLS;
  float largest = AT(x, first);
  uint where = 0;
  for (uint r = 1; r < LENGTH; ++r) {
    float v = AT(x, first + uint64_t(r) * COLS);
    if (v > largest) {
      largest = v;
      where = r;
    }
  }
  Int64(y + 8ul * i).words = uvec2(where, 0);
}
