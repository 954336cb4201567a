// Compares two arrays of block hashes: how many differ, and the first that does. A launch of one
// workgroup with START before it makes the finding say that nothing differs.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

layout(buffer_reference, std430, buffer_reference_align = 8) buffer Hash { uint64_t v; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Finding {
  uint changed, first;
};
layout(push_constant, std430) uniform Push {
  uint64_t before, after, count, finding;
};

void main() {
  Finding found = Finding(finding);
#ifdef START
  if (gl_LocalInvocationID.x == 0u) {
    found.changed = 0u;
    found.first = 0xFFFFFFFFu;
  }
#else
  const uint64_t index =
      uint64_t(gl_WorkGroupID.x) * 256ul + uint64_t(gl_LocalInvocationID.x);
  if (index >= count) return;
  const uint64_t at = index * 8ul;
  if (Hash(before + at).v == Hash(after + at).v) return;
  atomicAdd(found.changed, 1u);
  atomicMin(found.first, uint(index));
#endif
}
