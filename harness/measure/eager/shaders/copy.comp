// Moves a strided array into another of the same extents.
//   OUTER  how many dimensions stand before the last, 0 to 5
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#include "words.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint pieces;      // of WIDTH elements
  uint row_pieces;  // along the last dimension
  uint groups;
  int x_inner, y_inner;  // strides of the last dimension, both 1 where WIDTH is 4
#if OUTER > 0
  // From the dimension before the last outwards; strides in elements.
  uint extent[OUTER];
  int x_stride[OUTER];
  int y_stride[OUTER];
#endif
}
p;

/// (in x, in y), in elements.
void locate(uint piece, out int64_t x, out int64_t y) {
#if OUTER > 0
  uint row = piece / p.row_pieces;
  const uint column = (piece - row * p.row_pieces) * WIDTH;
#else
  const uint column = piece * WIDTH;
#endif
  x = int64_t(column) * p.x_inner;
  y = int64_t(column) * p.y_inner;
#if OUTER > 0
  [[unroll]] for (int d = 0; d < OUTER; ++d) {
    const uint i = d + 1 < OUTER ? row % p.extent[d] : row;
    row /= p.extent[d];
    x += int64_t(i) * p.x_stride[d];
    y += int64_t(i) * p.y_stride[d];
  }
#endif
}

PIECE load_piece(uint piece) {
  int64_t x, y;
  locate(piece, x, y);
  return load_from(ADVANCE(X, p.x, x));
}
void store_piece(uint piece, PIECE value) {
  int64_t x, y;
  locate(piece, x, y);
  store_to(ADVANCE(Y, p.y, y), value);
}

void main() {
  const uint group = group_index();
  if (group < p.groups) move_pieces(group, p.pieces);
}
