// Redzones: writes a secret pattern into pieces of memory, or (CHECK) counts the words that differ
// from it, one workgroup a piece; or (FINAL, one workgroup) counts the pieces that were changed.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Zone {
  uint64_t address;
  uint words, unused;
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Finding {
  uint changed, first;
};
layout(push_constant, std430) uniform Push {
  uint64_t zones, findings, summary;
  uvec2 key;
  uint first_zone;  // of this launch
  uint count;       // of all
};

shared uint changed, first;

// A secret word: a float of 2^16 to 2^24 in magnitude. A kernel that reads it sees neither the zero
// that a device with bounds checks gives nor a value so small that it is lost in a sum.
uvec4 pattern_of(uvec4 r) {
  const uvec4 exponent = 143u + (r >> 23 & 7u);
  return (r & 0x807FFFFFu) | exponent << 23;
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  if (lane == 0u) {
    changed = 0u;
    first = 0xFFFFFFFFu;
  }
  barrier();
#ifdef FINAL
  for (uint index = lane; index < count; index += 256u) {
    if (Finding(findings + uint64_t(index) * 8ul).changed == 0u) continue;
    atomicAdd(changed, 1u);
    atomicMin(first, index);
  }
#else
  const uint index = first_zone + gl_WorkGroupID.x;
  Zone zone = Zone(zones + uint64_t(index) * 16ul);
  const uint64_t base = zone.address;
  const uint words = zone.words;
  // Four words a lane: one Philox block. A zone may begin at any multiple of 4 bytes.
  for (uint word = lane * 4u; word < words; word += 1024u) {
    const uvec4 pattern = pattern_of(philox(uvec4(word, index, 2u, 0u), key));
    for (uint k = 0u; k < min(4u, words - word); ++k) {
      const uint64_t at = base + uint64_t(word + k) * 4ul;
#ifdef CHECK
      if (Word(at).v != pattern[k]) {
        atomicAdd(changed, 1u);
        atomicMin(first, word + k);
      }
#else
      Word(at).v = pattern[k];
#endif
    }
  }
#endif
#if defined(CHECK) || defined(FINAL)
  barrier();
  if (lane != 0u) return;
#ifdef FINAL
  Finding at = Finding(summary);
#else
  Finding at = Finding(findings + uint64_t(index) * 8ul);
#endif
  at.changed = changed;
  at.first = first;
#endif
}
