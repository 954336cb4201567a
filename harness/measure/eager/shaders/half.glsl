// float32 to floats of 16 bits and back, on their bits: Vulkan does not say how a device's own
// conversions round unless a shader may ask (F16_CONVERTS in tensor.glsl). Selections in place of
// branches, on which invocations of a subgroup would diverge.
#ifndef HALF_GLSL
#define HALF_GLSL

uint single_of_half(uint bits) {
  const uint sign = (bits & 0x8000u) << 16, size = bits & 0x7fffu;
  const uint normal = (size << 13) + (size >= 0x7c00u ? 0x70000000u : 0x38000000u);
  const uint subnormal = floatBitsToUint(float(size) * 5.9604644775390625e-8);  // of 2^-24, exact
  return sign | (size >= 0x400u ? normal : subnormal);
}

/// To the nearest, ties to even; 65520 and above are infinite.
uint half_of_single(uint bits) {
  const uint sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  const uint normal = (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;
  // Below 2^-14: in steps of 2^-24, smaller ones than half a step are zero.
  const int dropped = clamp(126 - int(size >> 23), 1, 25);
  const uint mantissa = (size & 0x7fffffu) | 0x800000u;
  const uint half_a_step = (1u << (dropped - 1)) - 1u + (mantissa >> dropped & 1u);
  const uint subnormal = (mantissa + half_a_step) >> dropped;
  const uint rounded = size >= 0x38800000u ? min(normal, 0x7c00u) : subnormal;
  return sign | (size > 0x7f800000u ? 0x7e00u : rounded);
}

uint single_of_brain(uint bits) { return bits << 16; }

/// To the nearest, ties to even.
uint brain_of_single(uint bits) {
  const uint rounded = bits + 0x7fffu + (bits >> 16 & 1u);
  return ((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : rounded) >> 16;
}

uvec4 single_of_half(uvec4 v) {
  return uvec4(single_of_half(v.x), single_of_half(v.y), single_of_half(v.z), single_of_half(v.w));
}
uvec4 half_of_single(uvec4 v) {
  return uvec4(half_of_single(v.x), half_of_single(v.y), half_of_single(v.z), half_of_single(v.w));
}
uvec4 single_of_brain(uvec4 v) { return v << 16; }
uvec4 brain_of_single(uvec4 v) {
  return uvec4(brain_of_single(v.x), brain_of_single(v.y), brain_of_single(v.z),
               brain_of_single(v.w));
}

#endif
