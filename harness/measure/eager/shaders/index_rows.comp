// y[i, :] = table[index[i], :], of one table, or of one for every `share` rows of y. An index outside
// the table gives a row of NaN rather than a stray read.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_2
#include "words.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t table, index, y;
  uint pieces;      // of WIDTH elements, in y
  uint row_pieces;  // in a row
  uint table_rows;
  uint share;
  uint groups;
}
p;

PIECE load_piece(uint piece) {
  const uint row = piece / p.row_pieces;
  WordsIn index = WordsIn(p.index + uint64_t(row) * 8ul);  // int64, low word first
  PIECE v = PIECE(NAN_BITS(X));
  if (index.at[1] == 0u && index.at[0] < p.table_rows) {
    const uint64_t before = uint64_t(row / p.share) * p.table_rows;
    const uint64_t first = (before + index.at[0]) * p.row_pieces;
    v = load_from(ADVANCE(X, p.table, (first + (piece - row * p.row_pieces)) * WIDTH));
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
