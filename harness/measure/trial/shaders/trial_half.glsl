// Halves of one type: the includer defines HALF as kHalfF16 or kHalfBf16.
#include "half.glsl"
#define kHalfF16 1
#define kHalfBf16 2

/// The bits of the half that is nearest to a float32 of these bits, ties to even.
uint half_of(uint bits) {
#if HALF == kHalfF16
  return half_of_single(bits);
#else
  return brain_of_single(bits);
#endif
}

/// The bits of the float32 that a half of these bits is.
uint float_bits_of(uint half_bits) {
#if HALF == kHalfF16
  return single_of_half(half_bits);
#else
  return single_of_brain(half_bits);
#endif
}

#if HALF == kHalfF16
const float kSmallestNormal = 6.103515625e-5;  // 2^-14
#else
const float kSmallestNormal = 1.1754943508222875e-38;  // 2^-126
#endif
