// Redzones: writes a secret pattern around buffers, or (CHECK) counts the words that differ from
// it. One workgroup a redzone, addresses from a table.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

layout(buffer_reference, std430, buffer_reference_align = 8) buffer Address { uint64_t v; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Finding {
  uint changed, first;
};
layout(push_constant, std430) uniform Push {
  uint64_t table, findings;
  uvec2 key;
  uint words;  // of one redzone
};

shared uint changed, first;

void main() {
  const uint lane = gl_LocalInvocationID.x;
  const uint zone = gl_WorkGroupID.x;
  const uint64_t base = Address(table + uint64_t(zone) * 8ul).v;
  if (lane == 0u) {
    changed = 0u;
    first = 0xFFFFFFFFu;
  }
  barrier();
  for (uint word = lane; word < words; word += 256u) {
    const uint pattern = philox(uvec4(word, zone, 2u, 0u), key).x;
#ifdef CHECK
    if (Word(base + uint64_t(word) * 4ul).v != pattern) {
      atomicAdd(changed, 1u);
      atomicMin(first, word);
    }
#else
    Word(base + uint64_t(word) * 4ul).v = pattern;
#endif
  }
#ifdef CHECK
  barrier();
  if (lane == 0u) {
    Finding at = Finding(findings + uint64_t(zone) * 8ul);
    at.changed = changed;
    at.first = first;
  }
#endif
}
