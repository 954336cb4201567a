// float16 and bfloat16 as the bits that memory holds: to and from float32.
//
// In integers alone: no unit of the processor, no compiler option and no rounding mode changes what
// comes out. From float32 to the nearest value, ties to even; too large is infinite (in float16
// from 65520 on); subnormal numbers are kept; a NaN stays a quiet NaN of its sign. To float32 is
// exact.
#pragma once

#include <bit>
#include <cstdint>

namespace kbench {

inline uint16_t to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (size >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520
  if (size >= 0x38800000u) {                                              // 2^-14
    // 0x38000000 is 112 << 23: the exponent's bias goes from 127 to 15. The mantissa's last 13 bits
    // are rounded away, ties to even; a carry goes into the exponent.
    return static_cast<uint16_t>(sign | (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13);
  }
  // Below 2^-14 a float16 counts steps of 2^-24: the mantissa's 24 bits, its leading 1 among them,
  // are shifted right by `dropped`, ties to even.
  const uint32_t dropped = 126 - (size >> 23);
  if (dropped > 24) return static_cast<uint16_t>(sign);
  const uint32_t mantissa = (size & 0x7fffffu) | 0x800000u;
  const uint32_t just_below_half = (1u << (dropped - 1)) - 1 + (mantissa >> dropped & 1u);
  return static_cast<uint16_t>(sign | (mantissa + just_below_half) >> dropped);
}

inline float from_f16(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16, size = half & 0x7fffu;
  if (size >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (size & 0x3ffu) << 13);
  if (size >= 0x400u) return std::bit_cast<float>(sign | ((size << 13) + 0x38000000u));
  const float steps = static_cast<float>(size) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(steps));
}

inline uint16_t to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

inline float from_bf16(uint16_t brain) {
  return std::bit_cast<float>(static_cast<uint32_t>(brain) << 16);
}

}  // namespace kbench
