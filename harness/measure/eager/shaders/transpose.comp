// Moves a strided array into another of the same extents where their contiguous dimensions differ:
// tiles of both dimensions pass through shared memory, so that reads and writes are contiguous.
//   OUTER  how many other dimensions there are, 0 to 4
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#define WIDTH 1
#include "words.glsl"

layout(local_size_x = TILE, local_size_y = ROWS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint x_extent, y_extent;  // of the dimensions that are contiguous in x and in y
  int x_stride;             // in x, of the dimension contiguous in y
  int y_stride;             // in y, of the dimension contiguous in x
  uint x_tiles, y_tiles;
  uint groups;
#if OUTER > 0
  uint extent[OUTER];
  int x_strides[OUTER];
  int y_strides[OUTER];
#endif
}
p;

shared uint tile[TILE][TILE + 1];

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint x0 = group % p.x_tiles * TILE;
  const uint y0 = group / p.x_tiles % p.y_tiles * TILE;
  uint outer = group / p.x_tiles / p.y_tiles;
  int64_t x_at = 0, y_at = 0;
#if OUTER > 0
  [[unroll]] for (int d = 0; d < OUTER; ++d) {
    const uint i = d + 1 < OUTER ? outer % p.extent[d] : outer;
    outer /= p.extent[d];
    x_at += int64_t(i) * p.x_strides[d];
    y_at += int64_t(i) * p.y_strides[d];
  }
#endif
  const uint column = gl_LocalInvocationID.x, row = gl_LocalInvocationID.y;
  [[unroll]] for (uint i = 0; i < TILE; i += ROWS) {
    if (x0 + column < p.x_extent && y0 + row + i < p.y_extent) {
      const int64_t at = x_at + int64_t(y0 + row + i) * p.x_stride + (x0 + column);
      tile[row + i][column] = load_from(ADVANCE(X, p.x, at));
    }
  }
  barrier();
  [[unroll]] for (uint i = 0; i < TILE; i += ROWS) {
    if (y0 + column < p.y_extent && x0 + row + i < p.x_extent) {
      const int64_t at = y_at + int64_t(x0 + row + i) * p.y_stride + (y0 + column);
      store_to(ADVANCE(Y, p.y, at), tile[column][row + i]);
    }
  }
}
