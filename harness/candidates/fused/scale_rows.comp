// output = diag(A) B: every row of B times one number. A thread scales one vec4.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

layout(local_size_x = 256) in;
layout(push_constant) uniform Push {
  uint64_t a, b, y;  // addresses
};

void main() {
  const uint pieces = (COLS + 3) / 4;
  uint64_t i = uint64_t(folded_group()) * 256 + gl_LocalInvocationIndex;
  uint row = uint(i / pieces);
  uint piece = uint(i % pieces);
  if (row >= ROWS) return;
  uint64_t start = uint64_t(row) * COLS * BYTES;
  store_piece(y + start, piece, COLS, LOAD(a, row) * load_piece(b + start, piece, COLS, 0.0));
}
