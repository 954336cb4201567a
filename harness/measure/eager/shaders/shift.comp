// Rows written from another place of x's rows: a padded row, whose elements before and after x's
// are zero, or with WRAP a rotated one.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#include "words.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint pieces;         // of WIDTH elements, in y
  uint row_pieces;     // in a row of y
  uint x_row_pieces;   // in a row of x
  uint shift_pieces;   // where x's row starts in y's
  uint groups;
}
p;

PIECE load_piece(uint piece) {
  const uint row = piece / p.row_pieces;
  uint column = piece - row * p.row_pieces;
#if WRAP
  column = column >= p.shift_pieces ? column - p.shift_pieces
                                    : column + (p.row_pieces - p.shift_pieces);
#else
  column -= p.shift_pieces;
#endif
  PIECE v = PIECE(0);
  if (column < p.x_row_pieces) {
    v = load_from(ADVANCE(X, p.x, (uint64_t(row) * p.x_row_pieces + column) * WIDTH));
  }
  return v;
}
void store_piece(uint piece, PIECE value) {
  store_to(ADVANCE(Y, p.y, uint64_t(piece) * WIDTH), value);
}

void main() {
  const uint group = group_index();
  if (group < p.groups) move_pieces(group, p.pieces);
}
