// Fills memory with plausible wrong values; or, with XOR, masks it with a secret stream (twice is
// the identity).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

layout(push_constant, std430) uniform Push {
  uint64_t base, words;
  uvec2 key;
  uint iterations, kind;
  float scale;
  uint limit;
};

void main() {
  const uint64_t quads = quads_in(words);
  for (uint turn = 0u; turn < iterations; ++turn) {
    const uint quad = quad_index(iterations, turn);
    if (uint64_t(quad) >= quads) break;
#ifdef XOR
    const uvec4 mask = philox(uvec4(quad, 0u, 1u, 0u), key);
    store_quad(base, quad, words, load_quad(base, quad, words) ^ mask);
#else
    store_quad(base, quad, words, fill_quad(quad, key, kind, scale, limit));
#endif
  }
}
