// Matrices with zeros on one side of the diagonal: below it where UPPER, else above.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#include "words.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint pieces;      // of WIDTH elements
  uint row_pieces;  // in a row
  uint rows;        // of a matrix
  uint groups;
}
p;

bool kept(uint row, uint column) { return UPPER != 0 ? column >= row : column <= row; }

PIECE load_piece(uint piece) {
  const uint row = piece / p.row_pieces, i = row % p.rows;
  const uint j = (piece - row * p.row_pieces) * WIDTH;
  PIECE v = PIECE(0);
  if (kept(i, j) || kept(i, j + WIDTH - 1)) {
    v = load_from(ADVANCE(X, p.x, uint64_t(piece) * WIDTH));
#if WIDTH == 4
    [[unroll]] for (uint c = 0; c < WIDTH; ++c) v[c] = kept(i, j + c) ? v[c] : 0u;
#endif
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
