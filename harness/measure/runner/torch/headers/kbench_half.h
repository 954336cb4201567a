// Half and BFloat16: numbers of sixteen bits, which are computed with as floats.
#pragma once

#if defined(KBENCH_HALF) && defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include "kbench_base.h"

namespace c10::kbench {
namespace kb {
union Bits32 {
  float f;
  uint32_t u;
};

C10_HOST_DEVICE inline float half_to_float(uint16_t h) {
#if defined(__CUDA_ARCH__) && defined(KBENCH_HALF)
  return __half2float(__ushort_as_half(h));
#else
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16, rest = h & 0x7fff;
  Bits32 bits{};
  if (rest >= 0x7c00) {
    bits.u = sign | 0x7f800000 | (rest & 0x3ff) << 13;
  } else if (rest >= 0x400) {
    bits.u = sign | ((rest << 13) + 0x38000000);
  } else {
    bits.f = static_cast<float>(rest) * 5.9604644775390625e-8f;  // 2^-24
    bits.u |= sign;
  }
  return bits.f;
#endif
}

C10_HOST_DEVICE inline uint16_t float_to_half(float f) {
#if defined(__CUDA_ARCH__) && defined(KBENCH_HALF)
  return __half_as_ushort(__float2half(f));
#else
  Bits32 bits{f};
  const uint32_t sign = bits.u >> 16 & 0x8000, rest = bits.u & 0x7fffffff;
  if (rest > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (rest >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
  if (rest < 0x38800000) {  // Its unit is 2^-24; 0.5 + |f| has its last bit there.
    Bits32 small{};
    small.u = rest;
    small.f += 0.5f;
    return static_cast<uint16_t>(sign | (small.u - 0x3f000000));
  }
  return static_cast<uint16_t>(sign | ((rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13));
#endif
}

C10_HOST_DEVICE inline float bfloat16_to_float(uint16_t b) {
  Bits32 bits{};
  bits.u = static_cast<uint32_t>(b) << 16;
  return bits.f;
}

C10_HOST_DEVICE inline uint16_t float_to_bfloat16(float f) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && defined(KBENCH_HALF)
  return __bfloat16_as_ushort(__float2bfloat16(f));
#else
  Bits32 bits{f};
  if (f != f) return 0x7fc0;
  return static_cast<uint16_t>((bits.u + 0x7fff + (bits.u >> 16 & 1)) >> 16);
#endif
}

/// What a number of sixteen bits and one of type T give: a T where that is a float or a double.
template <class Sixteen, class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
using With = std::conditional_t<std::is_floating_point_v<T>, T, Sixteen>;
}  // namespace kb

struct from_bits_t {};

#if defined(KBENCH_HALF) && defined(__CUDACC__)
#define KB_NATIVE(NAME, NATIVE)                                                                \
  C10_HOST_DEVICE NAME(const NATIVE& value) : x(*reinterpret_cast<const uint16_t*>(&value)) {} \
  C10_HOST_DEVICE operator NATIVE() const { return *reinterpret_cast<const NATIVE*>(&x); }
#define KB_LDG(NAME)                                                     \
  __device__ inline NAME __ldg(const NAME* pointer) {                    \
    NAME value;                                                          \
    value.x = ::__ldg(reinterpret_cast<const unsigned short*>(pointer)); \
    return value;                                                        \
  }
#else
#define KB_NATIVE(NAME, NATIVE)
#define KB_LDG(NAME)
#endif
#define KB_BINARY_16(NAME, OP)                                                               \
  C10_HOST_DEVICE inline NAME operator OP(const NAME& a, const NAME& b) {                    \
    return static_cast<float>(a) OP static_cast<float>(b);                                   \
  }                                                                                          \
  template <class T, class R = kb::With<NAME, T>>                                            \
  C10_HOST_DEVICE R operator OP(const NAME& a, T b) {                                        \
    return static_cast<R>(a) OP static_cast<R>(b);                                           \
  }                                                                                          \
  template <class T, class R = kb::With<NAME, T>>                                            \
  C10_HOST_DEVICE R operator OP(T a, const NAME& b) {                                        \
    return static_cast<R>(a) OP static_cast<R>(b);                                           \
  }                                                                                          \
  C10_HOST_DEVICE inline NAME& operator OP##=(NAME& a, const NAME& b) { return a = a OP b; } \
  C10_HOST_DEVICE inline float& operator OP##=(float& a, const NAME& b) { return a = a OP b; }
#define KB_FLOAT_16(NAME, CONVERT, NATIVE)                                                \
  struct alignas(2) NAME {                                                                \
    unsigned short x;                                                                     \
    static constexpr C10_HOST_DEVICE from_bits_t from_bits() { return {}; }               \
    NAME() = default;                                                                     \
    constexpr C10_HOST_DEVICE NAME(unsigned short bits, from_bits_t) : x(bits) {}         \
    C10_HOST_DEVICE NAME(float value) : x(kb::float_to_##CONVERT(value)) {}               \
    C10_HOST_DEVICE operator float() const { return kb::CONVERT##_to_float(x); }          \
    KB_NATIVE(NAME, NATIVE)                                                               \
  };                                                                                      \
  KB_BINARY_16(NAME, +)                                                                   \
  KB_BINARY_16(NAME, -)                                                                   \
  KB_BINARY_16(NAME, *)                                                                   \
  KB_BINARY_16(NAME, /)                                                                   \
  C10_HOST_DEVICE inline NAME operator-(const NAME& a) { return -static_cast<float>(a); } \
  KB_LDG(NAME)
KB_FLOAT_16(Half, half, __half)
KB_FLOAT_16(BFloat16, bfloat16, __nv_bfloat16)
}  // namespace c10::kbench

#define KB_LIMITS(TYPE, LOWEST, LEAST, MOST, EPSILON, ROUND, INFINITE, NAN_, DENORM, DIGITS) \
  template <>                                                                                \
  struct std::numeric_limits<c10::TYPE> : std::numeric_limits<float> {                       \
    static constexpr int digits = DIGITS;                                                    \
    static constexpr C10_HOST_DEVICE c10::TYPE bits(unsigned short b) {                      \
      return c10::TYPE(b, c10::from_bits_t());                                               \
    }                                                                                        \
    static constexpr C10_HOST_DEVICE c10::TYPE min() { return bits(LEAST); }                 \
    static constexpr C10_HOST_DEVICE c10::TYPE lowest() { return bits(LOWEST); }             \
    static constexpr C10_HOST_DEVICE c10::TYPE max() { return bits(MOST); }                  \
    static constexpr C10_HOST_DEVICE c10::TYPE epsilon() { return bits(EPSILON); }           \
    static constexpr C10_HOST_DEVICE c10::TYPE round_error() { return bits(ROUND); }         \
    static constexpr C10_HOST_DEVICE c10::TYPE infinity() { return bits(INFINITE); }         \
    static constexpr C10_HOST_DEVICE c10::TYPE quiet_NaN() { return bits(NAN_); }            \
    static constexpr C10_HOST_DEVICE c10::TYPE denorm_min() { return bits(DENORM); }         \
  };
KB_LIMITS(Half, 0xfbff, 0x0400, 0x7bff, 0x1400, 0x3800, 0x7c00, 0x7e00, 1, 11)
KB_LIMITS(BFloat16, 0xff7f, 0x0080, 0x7f7f, 0x3c00, 0x3f00, 0x7f80, 0x7fc0, 1, 8)
