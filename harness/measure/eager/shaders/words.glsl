// Elements moved as they are, 32 bits at a time, with several in flight. The includer defines
//   WIDTH   words a piece: 1, or 4 where every piece starts on a 16-byte boundary
// and, to use move_pieces(),
//   PIECES  of them an invocation, THREADS apart
//   PIECE load_piece(uint piece)
//   void store_piece(uint piece, PIECE value)
#ifndef WORDS_GLSL
#define WORDS_GLSL
#include "tensor.glsl"

layout(buffer_reference, std430, buffer_reference_align = 4) restrict readonly buffer WordsIn {
  uint at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) restrict readonly buffer Uvec4sIn {
  uvec4 at[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) restrict writeonly buffer WordsOut {
  uint at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) restrict writeonly buffer Uvec4sOut {
  uvec4 at[];
};

#if WIDTH == 4
#define PIECE uvec4
#define IN Uvec4sIn
#define OUT Uvec4sOut
#else
#define PIECE uint
#define IN WordsIn
#define OUT WordsOut
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
