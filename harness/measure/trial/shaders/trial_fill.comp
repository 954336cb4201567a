// Fills memory before a run: trial::Fill.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

layout(push_constant, std430) uniform Push {
  uint64_t base, words;
  uvec2 key;
  uint iterations, kind;
  float scale;
  uint limit, contents;
};

void main() {
  const uint64_t quads = quads_in(words);
  for (uint turn = 0u; turn < iterations; ++turn) {
    const uint quad = quad_index(iterations, turn);
    if (uint64_t(quad) >= quads) break;
    store_quad(base, quad, words, fill_quad(quad, key, kind, contents, scale, limit));
  }
}
