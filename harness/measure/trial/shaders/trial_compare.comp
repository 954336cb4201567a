// Holds every element of a result to the truth, by the rule in kbench/compare.h. One finding a
// workgroup; trial_compare_sum.comp adds them up. The result is of float32, of int64 (INTEGER) or of
// halves (HALF: trial_half.glsl), whose truth is of float32.
#version 450
#extension GL_GOOGLE_include_directive : require
#ifdef HALF
#include "trial_half.glsl"
#endif
#include "trial_common.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Scale { float rms; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Finding {
  uint wrong, not_finite, zero, untouched;
  uint first;      // element, counted from the workgroup's first; all ones: none
  uint max_error;  // bits of a float that is not negative
  float squares;   // of halves: the sum of squared errors, each by its element's scale
  uint behind;     // 1: the two bytes behind an odd number of halves hold another value
  uvec2 got, expected;  // bits of the first wrong element
};
layout(push_constant, std430) uniform Push {
  uint64_t got, truth, words, scale, findings;  // words: of `got`
  uvec2 key;         // of the fill the result was written over
  uint iterations, limit;
  float fill_scale;
  float relative;    // of the tolerance
  float absolute;    // fixed absolute part of the room; below zero: relative * RMS of the truth
  uint odd;          // 1: the last of the words holds one half alone
  uint contents;     // of the fill
};

shared uint wrong, not_finite, zero, untouched, first, max_error, behind;
#ifdef HALF
const uint kFillHalf = HALF == kHalfF16 ? kFillF16 : kFillBf16;
shared float squares[256];
#endif

void main() {
  const uint lane = gl_LocalInvocationID.x;
  if (lane == 0u) {
    wrong = not_finite = zero = untouched = max_error = behind = 0u;
    first = 0xFFFFFFFFu;
  }
  barrier();

  const float s = Scale(scale).rms;
  const float floor_room = absolute >= 0.0 ? absolute : relative * s;
  const uint64_t quads = quads_in(words);
  uint my_wrong = 0u, my_not_finite = 0u, my_zero = 0u, my_untouched = 0u;
  uint my_first = 0xFFFFFFFFu;
  float my_error = 0.0, my_squares = 0.0;
  for (uint turn = 0u; turn < iterations; ++turn) {
    const uint quad = quad_index(iterations, turn);
    if (uint64_t(quad) >= quads) break;
    const uvec4 c = load_quad(got, quad, words);
    const uint in_group = turn * 256u + lane;
#ifdef HALF
    const uint64_t elements = words * 2ul - uint64_t(odd);
    const bool last = odd == 1u && uint64_t(quad) + 1ul == quads;
#ifdef UNTOUCHED
    const bool fills = true;
#else
    const bool fills = last;
#endif
    const uvec4 fill = fills ? fill_quad(quad, key, kFillHalf, contents, fill_scale, limit) : uvec4(0u);
    if (last) {
      const uint word = uint(words - 1ul - uint64_t(quad) * 4ul);
      if (c[word] >> 16 != fill[word] >> 16) behind = 1u;
    }
    for (uint part = 0u; part < 2u; ++part) {
      if (uint64_t(quad) * 8ul + uint64_t(part) * 4ul >= elements) break;
      const uvec4 r = load_quad(truth, quad * 2u + part, elements);
      for (uint k = 0u; k < 4u; ++k) {
        if (uint64_t(quad) * 8ul + uint64_t(part * 4u + k) >= elements) break;
        const uint word = part * 2u + k / 2u, shift = (k & 1u) * 16u;
        const uint bits = c[word] >> shift & 0xFFFFu;
        if ((bits & 0x7FFFu) == 0u) ++my_zero;
#ifdef UNTOUCHED
        if (bits == (fill[word] >> shift & 0xFFFFu)) ++my_untouched;
#endif
        const uint value = float_bits_of(bits);
        const bool finite = (value & 0x7F800000u) != 0x7F800000u;
        const bool truth_finite = (r[k] & 0x7F800000u) != 0x7F800000u;
        bool right;
        if (finite && truth_finite) {
          const float cf = uintBitsToFloat(value), rf = uintBitsToFloat(r[k]);
          const float difference = abs(cf - rf), size = max(abs(rf), kSmallestNormal);
          const float error = difference / (s + size);
          my_error = max(my_error, error);
          my_squares += error * error;
          right = difference <= floor_room + relative * (absolute >= 0.0 ? abs(rf) : size);
        } else {
          right = value == r[k] && (r[k] & 0x007FFFFFu) == 0u;
          if (truth_finite) ++my_not_finite;
        }
        if (!right) {
          ++my_wrong;
          my_first = min(my_first, in_group * 8u + part * 4u + k);
        }
      }
    }
#elif defined(INTEGER)
    const uvec4 r = load_quad(truth, quad, words);
#ifdef UNTOUCHED
    const uvec4 fill = fill_quad(quad, key, kFillI64, contents, fill_scale, limit);
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
    const uvec4 r = load_quad(truth, quad, words);
#ifdef UNTOUCHED
    const uvec4 fill = fill_quad(quad, key, kFillF32, contents, fill_scale, limit);
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
#ifdef HALF
  squares[lane] = my_squares;
  barrier();
  for (uint width = 128u; width > 0u; width >>= 1) {
    if (lane < width) squares[lane] += squares[lane + width];
    barrier();
  }
#endif
  barrier();
  if (lane != 0u) return;
  Finding at = Finding(findings + uint64_t(gl_WorkGroupID.x) * 48ul);
  at.wrong = wrong;
  at.not_finite = not_finite;
  at.zero = zero;
  at.untouched = untouched;
  at.first = first;
  at.max_error = max_error;
#ifdef HALF
  at.squares = squares[0];
#else
  at.squares = 0.0;
#endif
  at.behind = behind;
  uvec2 got_bits = uvec2(0u), expected_bits = uvec2(0u);
  if (first != 0xFFFFFFFFu) {
    const uint64_t in_bytes = uint64_t(quad_index(iterations, 0u)) * 16ul;  // lane 0: the first
#ifdef HALF
    const uint64_t element = in_bytes / 2ul + uint64_t(first);
    const uint pair = Word(got + element / 2ul * 4ul).v;
    got_bits.x = pair >> uint(element & 1ul) * 16u & 0xFFFFu;
    expected_bits.x = Word(truth + element * 4ul).v;
#else
#ifdef INTEGER
    const uint64_t place = in_bytes + uint64_t(first) * 8ul;
    got_bits.y = Word(got + place + 4ul).v;
    expected_bits.y = Word(truth + place + 4ul).v;
#else
    const uint64_t place = in_bytes + uint64_t(first) * 4ul;
#endif
    got_bits.x = Word(got + place).v;
    expected_bits.x = Word(truth + place).v;
#endif
  }
  at.got = got_bits;
  at.expected = expected_bits;
}
