// Rounds float32 to halves: `wide` keeps the rounded values, `narrow` gets their halves.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "trial_half.glsl"
#include "trial_common.glsl"

layout(push_constant, std430) uniform Push {
  uint64_t wide, narrow, elements;
  uint iterations, unused;
};

void main() {
  const uint64_t words = (elements + 1ul) / 2ul;  // of `narrow`
  const uint64_t quads = quads_in(words);
  for (uint turn = 0u; turn < iterations; ++turn) {
    const uint quad = quad_index(iterations, turn);
    if (uint64_t(quad) >= quads) break;
    uvec4 packed = uvec4(0u);
    for (uint part = 0u; part < 2u; ++part) {
      if (uint64_t(quad) * 8ul + uint64_t(part) * 4ul >= elements) break;
      uvec4 value = load_quad(wide, quad * 2u + part, elements);
      for (uint k = 0u; k < 4u; ++k) {
        const uint half_bits = half_of(value[k]);
        packed[part * 2u + k / 2u] |= half_bits << (k & 1u) * 16u;
        value[k] = float_bits_of(half_bits);
      }
      store_quad(wide, quad * 2u + part, elements, value);
    }
    // The two bytes behind an odd number of halves are not the tensor's: they keep what they hold.
    if ((elements & 1ul) == 1ul && uint64_t(quad) + 1ul == quads) {
      const uint last = uint(words - 1ul - uint64_t(quad) * 4ul);
      const uint behind = Word(narrow + (words - 1ul) * 4ul).v & 0xFFFF0000u;
      packed[last] = packed[last] & 0xFFFFu | behind;
    }
    store_quad(narrow, quad, words, packed);
  }
}
