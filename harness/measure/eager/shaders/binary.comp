// y = a OPERATION b, or FUNCTION(a, b) where that is defined, with broadcasting. The output is
// seen as rows: its last dimension (after dimensions that broadcast alike are merged) is walked
// contiguously, WIDTH elements an invocation; the row's position in the outer dimensions gives
// each operand's offset.
// A_INNER, B_INNER: 1 where the operand varies along the last dimension, 0 where it is repeated.
// OUTER: how many dimensions stand before the last, 0 to 5.
#version 450
#extension GL_GOOGLE_include_directive : require
#define A STORED_0
#define B STORED_1
#define Y STORED_2
#include "tensor.glsl"
#include "pieces.glsl"
#include "scalar_math.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t a, b, y;
  uint pieces;      // of WIDTH elements, in the whole output
  uint row_pieces;  // in one row
  uint groups;
#if OUTER > 0
  // From the dimension before the last outwards.
  uint extent[OUTER];
  uint a_stride[OUTER];  // elements; 0 where repeated
  uint b_stride[OUTER];
#endif
}
p;

void offsets(uint row, out uint64_t a, out uint64_t b) {
  a = 0ul;
  b = 0ul;
#if OUTER > 0
  [[unroll]] for (int d = 0; d < OUTER; ++d) {
    const uint i = d + 1 < OUTER ? row % p.extent[d] : row;
    row /= p.extent[d];
    a += uint64_t(i) * p.a_stride[d];
    b += uint64_t(i) * p.b_stride[d];
  }
#endif
}

void load_operands(uint piece, out PIECE u, out PIECE v) {
  uint row = 0, column = piece * WIDTH;
#if OUTER > 0
  row = piece / p.row_pieces;
  column = (piece - row * p.row_pieces) * WIDTH;
#endif
  uint64_t a, b;
  offsets(row, a, b);
#if A_INNER
  u = LOAD_PIECE(A, ADVANCE(A, p.a, a + column), 0);
#else
  u = PIECE(LOAD(A, ADVANCE(A, p.a, a), 0));
#endif
#if B_INNER
  v = LOAD_PIECE(B, ADVANCE(B, p.b, b + column), 0);
#else
  v = PIECE(LOAD(B, ADVANCE(B, p.b, b), 0));
#endif
}

void store(uint piece, PIECE u, PIECE v) {
#ifdef FUNCTION
#if WIDTH == 4
  const PIECE y =
      vec4(FUNCTION(u.x, v.x), FUNCTION(u.y, v.y), FUNCTION(u.z, v.z), FUNCTION(u.w, v.w));
#else
  const PIECE y = FUNCTION(u, v);
#endif
#else
  const PIECE y = u OPERATION v;
#endif
  STORE_PIECE(Y, ADVANCE(Y, p.y, uint64_t(piece) * WIDTH), 0, y);
}

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint first = group * (THREADS * PIECES) + gl_LocalInvocationID.x;
  PIECE u[PIECES], v[PIECES];
  if (p.pieces - group * (THREADS * PIECES) >= THREADS * PIECES) {
    // All loads before the first store: they overlap.
    [[unroll]] for (uint i = 0; i < PIECES; ++i) load_operands(first + i * THREADS, u[i], v[i]);
    [[unroll]] for (uint i = 0; i < PIECES; ++i) store(first + i * THREADS, u[i], v[i]);
  } else {
    for (uint i = first; i < p.pieces; i += THREADS) {
      load_operands(i, u[0], v[0]);
      store(i, u[0], v[0]);
    }
  }
}
