// Overwrites a buffer larger than the last-level cache, and each workgroup's shared memory with it,
// so that what ran before leaves nothing in caches or on chip.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

layout(push_constant, std430) uniform Push {
  uint64_t base, words;
  uvec2 key;
  uint iterations;
};

shared uvec4 scrub[SHARED_QUADS];

void main() {
  const uint lane = gl_LocalInvocationID.x;
  for (uint i = lane; i < SHARED_QUADS; i += 256u) {
    scrub[i] = (uvec4(i, i + 1u, i + 2u, i + 3u) + gl_WorkGroupID.x) * 2654435761u + key.xyxy;
  }
  barrier();
  const uint64_t quads = quads_in(words);
  for (uint turn = 0u; turn < iterations; ++turn) {
    const uint quad = quad_index(iterations, turn);
    if (uint64_t(quad) >= quads) break;
    store_quad(base, quad, words, scrub[quad % SHARED_QUADS]);
  }
}
