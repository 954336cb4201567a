// Adds the findings of a comparison's workgroups up: one workgroup, one summary.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Finding {
  uint wrong, not_finite, zero, untouched;
  uint first, max_error;
  float squares;
  uint behind;
  uvec2 got, expected;
};
layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer Summary {
  uint64_t wrong, not_finite, zero, untouched;
  uint64_t first;  // element; all ones: none
  uvec2 got, expected;
  uint max_error;
  float squares;
  uint behind, unused;
};
layout(push_constant, std430) uniform Push {
  uint64_t findings, summary;
  uint groups, per_group;  // elements
};

const uint kWrong = 0u, kNotFinite = 1u, kZero = 2u, kUntouched = 3u;
shared uint64_t sums[4][256];
shared float squares[256];
shared uint first_group, max_error, behind;

Finding finding(uint group) { return Finding(findings + uint64_t(group) * 48ul); }

void main() {
  const uint lane = gl_LocalInvocationID.x;
  if (lane == 0u) {
    first_group = 0xFFFFFFFFu;
    max_error = behind = 0u;
  }
  barrier();
  float sum_of_squares = 0.0;
  uint64_t wrong = 0ul, not_finite = 0ul, zero = 0ul, untouched = 0ul;
  for (uint group = lane; group < groups; group += 256u) {
    Finding part = finding(group);
    wrong += uint64_t(part.wrong);
    not_finite += uint64_t(part.not_finite);
    zero += uint64_t(part.zero);
    untouched += uint64_t(part.untouched);
    if (part.wrong != 0u) atomicMin(first_group, group);
    if (part.max_error != 0u) atomicMax(max_error, part.max_error);
    if (part.behind != 0u) behind = 1u;
    sum_of_squares += part.squares;
  }
  squares[lane] = sum_of_squares;
  sums[kWrong][lane] = wrong;
  sums[kNotFinite][lane] = not_finite;
  sums[kZero][lane] = zero;
  sums[kUntouched][lane] = untouched;
  barrier();
  for (uint width = 128u; width > 0u; width >>= 1) {
    if (lane < width) {
      for (uint i = 0u; i < 4u; ++i) sums[i][lane] += sums[i][lane + width];
      squares[lane] += squares[lane + width];
    }
    barrier();
  }
  if (lane != 0u) return;
  Summary at = Summary(summary);
  at.wrong = sums[kWrong][0];
  at.not_finite = sums[kNotFinite][0];
  at.zero = sums[kZero][0];
  at.untouched = sums[kUntouched][0];
  at.max_error = max_error;
  at.squares = squares[0];
  at.behind = behind;
  at.unused = 0u;
  at.first = ~0ul;
  at.got = at.expected = uvec2(0u);
  if (first_group == 0xFFFFFFFFu) return;
  Finding first = finding(first_group);
  at.first = uint64_t(first_group) * uint64_t(per_group) + uint64_t(first.first);
  at.got = first.got;
  at.expected = first.expected;
}
