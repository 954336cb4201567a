// The scale of the truth: sums of squares a workgroup, then (FINAL, one workgroup) their root mean.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

#ifdef FLOAT64
#define REAL double
#else
#define REAL float
#endif

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Partial {
  REAL squares;
#ifndef FLOAT64
  float unused;
#endif
  uint nans, largest;  // largest: of integers
};
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Scale {
  float rms;
  uint nans, largest, unused;
};
layout(push_constant, std430) uniform Push {
  uint64_t base, words, partials, scale;
  uint iterations, groups;
};

shared REAL squares[256];
shared uint nans, largest;

void add_quad(uint quad, inout REAL sum, inout uint bad, inout uint most) {
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
      if ((v[k] & 0x007FFFFFu) != 0u) ++bad;
    } else {
      const REAL value = REAL(uintBitsToFloat(v[k]));
      sum += value * value;
    }
  }
#endif
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  if (lane == 0u) {
    nans = 0u;
    largest = 0u;
  }
  barrier();
  REAL sum = REAL(0);
  uint bad = 0u, most = 0u;
#ifdef FINAL
  for (uint group = lane; group < groups; group += 256u) {
    Partial partial = Partial(partials + uint64_t(group) * 16ul);
    sum += partial.squares;
    bad = bad + partial.nans < bad ? 0xFFFFFFFFu : bad + partial.nans;
    most = max(most, partial.largest);
  }
#else
  const uint64_t quads = quads_in(words);
  for (uint turn = 0u; turn < iterations; ++turn) {
    const uint quad = quad_index(iterations, turn);
    if (uint64_t(quad) >= quads) break;
    add_quad(quad, sum, bad, most);
  }
#endif
  squares[lane] = sum;
  if (bad != 0u) atomicAdd(nans, bad);
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
  at.nans = nans;
  at.largest = largest;
#else
  Partial at = Partial(partials + uint64_t(gl_WorkGroupID.x) * 16ul);
  at.squares = squares[0];
  at.nans = nans;
  at.largest = largest;
#endif
}
