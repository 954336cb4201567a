// A keyed 64-bit hash: the sum over 64-bit words of a mix of place and value that is one-to-one in
// the value, so that any change of one word changes it. A partial sum a workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

layout(buffer_reference, std430, buffer_reference_align = 8) buffer Sum { uint64_t v; };
layout(push_constant, std430) uniform Push {
  uint64_t base, words, partials, key;
  uint iterations;
};

shared uint64_t sums[256];

uint64_t mix64(uint64_t x) {
  x ^= x >> 33;
  x *= 0xFF51AFD7ED558CCDul;
  x ^= x >> 29;
  x *= 0xC4CEB9FE1A85EC53ul;
  return x ^ (x >> 32);
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  const uint64_t quads = quads_in(words);
  uint64_t sum = 0ul;
  for (uint turn = 0u; turn < iterations; ++turn) {
    const uint quad = quad_index(iterations, turn);
    if (uint64_t(quad) >= quads) break;
    const uvec4 v = load_quad(base, quad, words);
    const uint64_t place = key + uint64_t(quad) * 0x9E3779B97F4A7C15ul;
    sum += mix64(packUint2x32(v.xy) ^ place);
    sum += mix64(packUint2x32(v.zw) ^ ~place);
  }
  sums[lane] = sum;
  barrier();
  for (uint width = 128u; width > 0u; width >>= 1) {
    if (lane < width) sums[lane] += sums[lane + width];
    barrier();
  }
  if (lane == 0u) Sum(partials + uint64_t(gl_WorkGroupID.x) * 8ul).v = sums[0];
}
