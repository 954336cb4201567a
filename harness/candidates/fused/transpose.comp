// result[c][r] = x[r][c] for x [ROWS, COLS] into [PADDED_COLS, PADDED_ROWS], zero where x has
// nothing: brings weights, once, into the order a kernel wants to read them in, as floats of 32
// bits.
#version 450

layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) restrict readonly buffer X { KB_REAL x[]; };
layout(std430, set = 0, binding = 1) restrict writeonly buffer Result { float result[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= PADDED_COLS * PADDED_ROWS) return;
  uint c = i / PADDED_ROWS;
  uint r = i % PADDED_ROWS;
  result[i] = r < ROWS && c < COLS ? KB_TO_FLOAT(x[r * COLS + c]) : 0.0;
}
