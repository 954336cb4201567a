// The scale of the truth: sums of squares a workgroup, then (FINAL, one workgroup) their root mean.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

#ifdef FLOAT64
#define REAL double
#else
#define REAL float
#endif

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Partial {
  REAL squares;
  uint nans, infinities, largest;  // largest: magnitude, of integers
};
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Scale {
  float rms;
  uint nans, largest, infinities;
};
layout(push_constant, std430) uniform Push {
  uint64_t base, words, partials, scale;
  uint iterations, groups;
};
const uint64_t kPartialBytes = 48ul;  // kernels.cc knows

shared REAL squares[256];
shared uint nans, infinities, largest;

void add_quad(uint quad, inout REAL sum, inout uint bad, inout uint infinite, inout uint most) {
  const uvec4 v = load_quad(base, quad, words);
#ifdef INTEGER
  for (uint k = 0u; k < 2u; ++k) {
    const int64_t value = int64_t(packUint2x32(k == 0u ? v.xy : v.zw));
    const uint64_t magnitude = uint64_t(value < 0l ? -value : value);
    most = max(most, magnitude > 0xFFFFFFFEul ? 0xFFFFFFFEu : uint(magnitude));
    sum += REAL(float(value)) * REAL(float(value));
  }
#else
  for (uint k = 0u; k < 4u; ++k) {
    if ((v[k] & 0x7F800000u) == 0x7F800000u) {
      if ((v[k] & 0x007FFFFFu) != 0u) {
        ++bad;
      } else {
        ++infinite;
      }
    } else {
      const REAL value = REAL(uintBitsToFloat(v[k]));
      sum += value * value;
    }
  }
#endif
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  if (lane == 0u) nans = infinities = largest = 0u;
  barrier();
  REAL sum = REAL(0);
  uint bad = 0u, infinite = 0u, most = 0u;
#ifdef FINAL
  for (uint group = lane; group < groups; group += 256u) {
    Partial part = Partial(partials + uint64_t(group) * kPartialBytes);
    sum += part.squares;
    bad += part.nans;
    infinite += part.infinities;
    most = max(most, part.largest);
  }
  // So that 256 of them add up without wrapping: the counts stop just below 2^32.
  bad = min(bad, 0xFFFFFFu);
  infinite = min(infinite, 0xFFFFFFu);
#else
  const uint64_t quads = quads_in(words);
  for (uint turn = 0u; turn < iterations; ++turn) {
    const uint quad = quad_index(iterations, turn);
    if (uint64_t(quad) >= quads) break;
    add_quad(quad, sum, bad, infinite, most);
  }
#endif
  squares[lane] = sum;
  if (bad != 0u) atomicAdd(nans, bad);
  if (infinite != 0u) atomicAdd(infinities, infinite);
  if (most != 0u) atomicMax(largest, most);
  barrier();
  for (uint width = 128u; width > 0u; width >>= 1) {
    if (lane < width) squares[lane] += squares[lane + width];
    barrier();
  }
  if (lane != 0u) return;
#ifdef FINAL
#ifdef INTEGER
  const uint64_t elements = words / 2ul;
#else
  const uint64_t elements = words;
#endif
  Scale at = Scale(scale);
  at.rms = float(sqrt(squares[0] / REAL(max(elements, 1ul))));
#else
  Partial at = Partial(partials + uint64_t(gl_WorkGroupID.x) * kPartialBytes);
  at.squares = squares[0];
#endif
  at.nans = nans;
  at.infinities = infinities;
  at.largest = largest;
}
