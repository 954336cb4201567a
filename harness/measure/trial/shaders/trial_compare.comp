// Holds every element of a result to the truth, by the rule in kbench/compare.h. One finding a
// workgroup; trial_compare_sum.comp adds them up.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Scale { float rms; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Finding {
  uint wrong, not_finite, zero, untouched;
  uint first;      // element, counted from the workgroup's first; all ones: none
  uint max_error;  // bits of a float that is not negative
  uint unused0, unused1;
  uvec2 got, expected;  // bits of the first wrong element
};
layout(push_constant, std430) uniform Push {
  uint64_t got, truth, words, scale, findings;
  uvec2 key;         // of the fill the result was written over
  uint iterations, limit;
  float fill_scale;
  float relative;    // of the tolerance
  float absolute;    // fixed absolute part of the room; below zero: relative * RMS of the truth
};

shared uint wrong, not_finite, zero, untouched, first, max_error;

void main() {
  const uint lane = gl_LocalInvocationID.x;
  if (lane == 0u) {
    wrong = not_finite = zero = untouched = max_error = 0u;
    first = 0xFFFFFFFFu;
  }
  barrier();

  const float s = Scale(scale).rms;
  const float floor_room = absolute >= 0.0 ? absolute : relative * s;
  const uint64_t quads = quads_in(words);
  uint my_wrong = 0u, my_not_finite = 0u, my_zero = 0u, my_untouched = 0u;
  uint my_first = 0xFFFFFFFFu;
  float my_error = 0.0;
  for (uint turn = 0u; turn < iterations; ++turn) {
    const uint quad = quad_index(iterations, turn);
    if (uint64_t(quad) >= quads) break;
    const uvec4 c = load_quad(got, quad, words);
    const uvec4 r = load_quad(truth, quad, words);
    const uint in_group = turn * 256u + lane;
#ifdef INTEGER
#ifdef UNTOUCHED
    const uvec4 fill = fill_quad(quad, key, kFillI64, fill_scale, limit);
#endif
    for (uint k = 0u; k < 2u; ++k) {
      if (uint64_t(quad) * 4ul + uint64_t(2u * k) >= words) break;
      const uvec2 ck = k == 0u ? c.xy : c.zw, rk = k == 0u ? r.xy : r.zw;
      if (ck == uvec2(0u)) ++my_zero;
#ifdef UNTOUCHED
      if (ck == (k == 0u ? fill.xy : fill.zw)) ++my_untouched;
#endif
      if (ck != rk) {
        ++my_wrong;
        my_first = min(my_first, in_group * 2u + k);
      }
    }
#else
#ifdef UNTOUCHED
    const uvec4 fill = fill_quad(quad, key, kFillF32, fill_scale, limit);
#endif
    for (uint k = 0u; k < 4u; ++k) {
      if (uint64_t(quad) * 4ul + uint64_t(k) >= words) break;
      if ((c[k] & 0x7FFFFFFFu) == 0u) ++my_zero;
#ifdef UNTOUCHED
      if (c[k] == fill[k]) ++my_untouched;
#endif
      const bool finite = (c[k] & 0x7F800000u) != 0x7F800000u;
      const bool truth_finite = (r[k] & 0x7F800000u) != 0x7F800000u;
      bool right;
      if (finite && truth_finite) {
        const float cf = uintBitsToFloat(c[k]), rf = uintBitsToFloat(r[k]);
        const float difference = abs(cf - rf);
        if (difference > 0.0) my_error = max(my_error, difference / max(s + abs(rf), 1e-37));
        right = difference <= floor_room + relative * abs(rf);
      } else {
        right = c[k] == r[k] && (r[k] & 0x007FFFFFu) == 0u;  // the same infinity
        if (truth_finite) ++my_not_finite;
      }
      if (!right) {
        ++my_wrong;
        my_first = min(my_first, in_group * 4u + k);
      }
    }
#endif
  }
  if (my_wrong != 0u) {
    atomicAdd(wrong, my_wrong);
    atomicMin(first, my_first);
  }
  if (my_not_finite != 0u) atomicAdd(not_finite, my_not_finite);
  if (my_zero != 0u) atomicAdd(zero, my_zero);
  if (my_untouched != 0u) atomicAdd(untouched, my_untouched);
  if (my_error > 0.0) atomicMax(max_error, floatBitsToUint(my_error));
  barrier();
  if (lane != 0u) return;
  Finding at = Finding(findings + uint64_t(gl_WorkGroupID.x) * 48ul);
  at.wrong = wrong;
  at.not_finite = not_finite;
  at.zero = zero;
  at.untouched = untouched;
  at.first = first;
  at.max_error = max_error;
  uvec2 got_bits = uvec2(0u), expected_bits = uvec2(0u);
  if (first != 0xFFFFFFFFu) {
    const uint64_t in_bytes = uint64_t(quad_index(iterations, 0u)) * 16ul;  // lane 0: the first
#ifdef INTEGER
    const uint64_t place = in_bytes + uint64_t(first) * 8ul;
    got_bits.y = Word(got + place + 4ul).v;
    expected_bits.y = Word(truth + place + 4ul).v;
#else
    const uint64_t place = in_bytes + uint64_t(first) * 4ul;
#endif
    got_bits.x = Word(got + place).v;
    expected_bits.x = Word(truth + place).v;
  }
  at.got = got_bits;
  at.expected = expected_bits;
}
