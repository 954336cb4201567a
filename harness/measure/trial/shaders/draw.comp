// Draws a tensor: the values kbench::draw gives on the host, bit for bit.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "draw_common.glsl"

#if defined(BYTES)
uint byte_of(uint w) { return uint(integer_of(w)); }

uvec4 values_of(uint quad) {
  uvec4 value;
  for (uint k = 0u; k < 4u; ++k) {
    const uvec4 w = block_words(uint64_t(quad) * 4ul + uint64_t(k), name);
    value[k] = byte_of(w.x) | byte_of(w.y) << 8 | byte_of(w.z) << 16 | byte_of(w.w) << 24;
  }
  return value;
}
#elif defined(INTEGER)
uvec4 values_of(uint quad) {
  const uvec4 w = block_words(uint64_t(quad >> 1), name);
  const uvec2 half_block = (quad & 1u) == 0u ? w.xy : w.zw;
  return uvec4(unpackUint2x32(uint64_t(integer_of(half_block.x))),
               unpackUint2x32(uint64_t(integer_of(half_block.y))));
}
#else
uvec4 values_of(uint quad) {
  precise vec4 value = drawn_quad(uint64_t(quad), name);
#ifdef PLUS_MINUS_ONE
  value = 2.0 * value - 1.0;
#endif
#ifdef OFFSET
  uint64_t last = 0xFFFFFFFFFFFFFFFFul;
  vec4 drawn;
  for (uint k = 0u; k < 4u; ++k) {
    const uint64_t run = (uint64_t(quad) * 4ul + uint64_t(k)) / uint64_t(columns);
    if (run / 4ul != last) {
      last = run / 4ul;
      drawn = drawn_quad(last, offsets);
    }
    value[k] = value[k] + drawn[uint(run % 4ul)];
  }
#endif
#if defined(TRIU) || defined(TRIL) || defined(SYMMETRIZE)
  for (uint k = 0u; k < 4u; ++k) {
    const uint64_t element = uint64_t(quad) * 4ul + uint64_t(k);
    const uint column = uint(element % uint64_t(columns));
    const uint row = uint((element / uint64_t(columns)) % uint64_t(rows));
#if defined(TRIU)
    if (column < row) value[k] = 0.0;
#elif defined(TRIL)
    if (column > row) value[k] = 0.0;
#else
    const uint64_t mirrored = uint64_t(column) * uint64_t(columns) + uint64_t(row);
    const float other = drawn_quad(mirrored / 4ul, name)[uint(mirrored % 4ul)];
    precise float total = value[k] + other;
    value[k] = total * 0.5;
#endif
  }
#endif
  return floatBitsToUint(value);
}
#endif

void main() {
  const uint64_t quads = quads_in(words);
  for (uint turn = 0u; turn < iterations; ++turn) {
    const uint quad = quad_index(iterations, turn);
    if (uint64_t(quad) >= quads) break;
    store_quad(base, quad, words, values_of(quad));
  }
}
