// The mean of each cell of a grid laid over a plane; cells differ in size by at most one and may
// overlap. An invocation takes one cell.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#include "tensor.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint height, width;
  uint out_height, out_width;
  uint items;
  uint groups;
}
p;

void main() {
  const uint group = group_index();
  const uint item = group * THREADS + gl_LocalInvocationID.x;
  if (group >= p.groups || item >= p.items) return;
  const uint column = item % p.out_width;
  const uint row = item / p.out_width % p.out_height;
  const uint plane = item / p.out_width / p.out_height;
  const uint y0 = row * p.height / p.out_height;
  const uint y1 = ceil_div((row + 1) * p.height, p.out_height);
  const uint x0 = column * p.width / p.out_width;
  const uint x1 = ceil_div((column + 1) * p.width, p.out_width);
  const uint64_t x = ADVANCE(X, p.x, uint64_t(plane) * p.height * p.width);
  float sum = 0.0;
  for (uint i = y0; i < y1; ++i) {
    float along = 0.0;
    for (uint j = x0; j < x1; ++j) along += LOAD(X, x, i * p.width + j);
    sum += along;
  }
  STORE(Y, ADVANCE(Y, p.y, item), 0, sum / float((y1 - y0) * (x1 - x0)));
}
