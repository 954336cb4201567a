// Elements moved as they are, several in flight: 16-bit ones, 32-bit ones, and wider ones a 32-bit
// word at a time. The includer names what it reads X and what it writes Y; from a kernel's float32
// scratch to halves, elements are rounded on the way. It defines
//   WIDTH   elements a piece: 1, or 4 where every piece starts on a multiple of four elements
// and, to use move_pieces(),
//   PIECES  of them an invocation, THREADS apart
//   PIECE load_piece(uint piece)
//   void store_piece(uint piece, PIECE value)
#ifndef WORDS_GLSL
#define WORDS_GLSL
#include "tensor.glsl"

// X and Y differ only where one is a kernel's float32 scratch and the other an operand stored in 16
// bits; elements are then converted, else moved as bits.
const bool kAlike = BYTES(X) == BYTES(Y);

#if WIDTH == 4
#define PIECE uvec4
PIECE load_from(uint64_t base) {
  return kAlike ? LOAD4_BITS(X, base, 0) : floatBitsToUint(LOAD4(X, base, 0));
}
void store_to(uint64_t base, PIECE v) {
  if (kAlike) {
    STORE4_BITS(Y, base, 0, v);
  } else {
    STORE4(Y, base, 0, uintBitsToFloat(v));
  }
}
#else
#define PIECE uint
PIECE load_from(uint64_t base) {
  return kAlike ? LOAD_BITS(X, base, 0) : floatBitsToUint(LOAD(X, base, 0));
}
void store_to(uint64_t base, PIECE v) {
  if (kAlike) {
    STORE_BITS(Y, base, 0, v);
  } else {
    STORE(Y, base, 0, uintBitsToFloat(v));
  }
}
#endif

#ifdef PIECES
PIECE load_piece(uint piece);
void store_piece(uint piece, PIECE value);

/// Moves this workgroup's share of `pieces`.
void move_pieces(uint group, uint pieces) {
  const uint first = group * (THREADS * PIECES) + gl_LocalInvocationID.x;
  if (pieces - group * (THREADS * PIECES) >= THREADS * PIECES) {
    // All loads before the first store: they overlap.
    PIECE v[PIECES];
    [[unroll]] for (uint i = 0; i < PIECES; ++i) v[i] = load_piece(first + i * THREADS);
    [[unroll]] for (uint i = 0; i < PIECES; ++i) store_piece(first + i * THREADS, v[i]);
  } else {
    for (uint i = first; i < pieces; i += THREADS) store_piece(i, load_piece(i));
  }
}
#endif

#endif
