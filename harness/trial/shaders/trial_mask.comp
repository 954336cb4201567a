// Masks memory with a secret stream; doing it again undoes it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

layout(push_constant, std430) uniform Push {
  uint64_t base, words;
  uvec2 key;
  uint iterations;
};

void main() {
  const uint64_t quads = quads_in(words);
  for (uint turn = 0u; turn < iterations; ++turn) {
    const uint quad = quad_index(iterations, turn);
    if (uint64_t(quad) >= quads) break;
    const uvec4 mask = philox(uvec4(quad, 0u, 1u, 0u), key);
    store_quad(base, quad, words, load_quad(base, quad, words) ^ mask);
  }
}
