// Elementary functions as branch-free code over plain scalars, which a compiler turns into vector
// loops. float: polynomials fitted here by weighted least squares (Lawson's iteration), errors as
// noted. double: the C library's functions, one by one.
//
// Included only by the files compiled for one instruction set each, inside that set's namespace:
// no standard C++ header here, or its inline functions would come to exist in several versions.
#pragma once

#include <stdint.h>

namespace kbench::reference::KBENCH_ISA {

inline double exp(double x) { return __builtin_exp(x); }
inline double log(double x) { return __builtin_log(x); }
inline double erf(double x) { return __builtin_erf(x); }
inline double tanh(double x) { return __builtin_tanh(x); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline double abs(double x) { return __builtin_fabs(x); }
inline float abs(float x) { return __builtin_fabsf(x); }

/// The terms c[begin] ... of count n, as low half + x^(half) * high half: the halves do not wait
/// for each other, and waiting is what a long polynomial spends its time on. powers[i] is x^(2^i).
template <int begin, int n, class T, int all>
inline T terms(const T (&c)[all], const T* powers) {
  if constexpr (n == 1) {
    return c[begin];
  } else {
    constexpr int level = n > 8 ? 3 : n > 4 ? 2 : n > 2 ? 1 : 0, half = 1 << level;
    return terms<begin, half>(c, powers) + powers[level] * terms<begin + half, n - half>(c, powers);
  }
}

/// c[0] + c[1] x + c[2] x^2 + ..., at most 16 terms (Estrin's scheme).
template <class T, int n>
inline T polynomial(T x, const T (&c)[n]) {
  static_assert(n <= 16);
  const T x2 = x * x, x4 = x2 * x2;
  const T powers[] = {x, x2, x4, x4 * x4};
  return terms<0, n>(c, powers);
}

/// 2^n for -126 <= n <= 127.
inline float power_of_two(int32_t n) { return __builtin_bit_cast(float, (n + 127) << 23); }

/// x = n ln 2 + r, |r| <= ln 2 / 2, for |x| < 2^21.
struct Reduced {
  int32_t n;
  float r;
};
inline Reduced reduce_by_ln2(float x) {
  // Adding 1.5 * 2^23 leaves round(x / ln 2) in the low bits.
  constexpr float kRound = 12582912.0f;
  const float shifted = x * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = x - n * 0.693145752f;  // ln 2 in two parts, the first exact in n * part
  return {__builtin_bit_cast(int32_t, shifted) - __builtin_bit_cast(int32_t, kRound),
          r - n * 1.42860682e-6f};
}
inline float expm1_of_remainder(float r) {
  constexpr float kTail[] = {0.50000001f, 0.166665188f, 0.0416662057f, 0.0083688968f, 0.00139505f};
  return r + r * r * polynomial(r, kTail);
}
inline float exp_of_remainder(float r) { return 1.0f + expm1_of_remainder(r); }

/// Within 2 ulp; subnormal results and overflow to infinity included.
inline float exp(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  const Reduced reduced = reduce_by_ln2(x);
  const int32_t half = reduced.n >> 1;  // 2^n itself may be out of range
  return exp_of_remainder(reduced.r) * power_of_two(half) * power_of_two(reduced.n - half);
}

/// exp(x) for x <= 0 where anything under 1e-37 may be taken for another such number.
inline float exp_coarse_below(float x) {
  x = x < -87.0f ? -87.0f : x;
  const Reduced reduced = reduce_by_ln2(x);
  return exp_of_remainder(reduced.r) * power_of_two(reduced.n);
}

/// exp(x) - 1 for x <= 0, within 3 ulp.
inline float expm1_below(float x) {
  x = x < -87.0f ? -87.0f : x;
  const Reduced reduced = reduce_by_ln2(x);
  const float scale = power_of_two(reduced.n);
  return scale * expm1_of_remainder(reduced.r) + (scale - 1.0f);
}
inline double expm1_below(double x) { return __builtin_expm1(x); }

/// Within 2 ulp for positive normal x; log(0) = -inf, log(x < 0) = NaN.
inline float log(float x) {
  // x = 2^n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 8388608.0f : x;
  const int32_t bits = __builtin_bit_cast(int32_t, scaled);
  const int32_t n = (bits - 0x3f3504f3) >> 23;
  const float f = __builtin_bit_cast(float, bits - n * 8388608) - 1.0f;
  const float e = static_cast<float>(n) - (tiny ? 23.0f : 0.0f);
  constexpr float kSeries[] = {0.3333331f,   -0.24999987f, 0.20002227f,  -0.1666925f, 0.14218657f,
                               -0.12384354f, 0.11872989f,  -0.11789772f, 0.06915297f};
  const float tail = f * f * (f * polynomial(f, kSeries) - 0.5f);
  float y = e * 0.693145752f + (f + (tail + e * 1.42860682e-6f));
  y = x > 3.40282347e38f ? x : y;
  y = x == 0.0f ? -__builtin_inff() : y;
  return x >= 0.0f ? y : __builtin_nanf("");
}

/// Phi(-a), the standard normal distribution's upper tail, for a >= 0: within 4 ulp for a <= 6; the
/// absolute error beyond is under 1e-9.
inline float normal_tail(float a) {
  // -log(Phi(-a)) - a^2 / 2
  constexpr float kExponent[] = {0.693147137f,    0.797886603f,    -0.181705833f,
                                 0.0363819806f,   -0.00484947055f, 1.43078778e-5f,
                                 0.000195697338f, -5.71928085e-5f, 9.33767045e-6f,
                                 -9.42496192e-7f, 5.49322460e-8f,  -1.41765845e-9f};
  const float b = a > 6.0f ? 6.0f : a;
  return exp_coarse_below(-(0.5f * a * a + polynomial(b, kExponent)));
}
inline double normal_tail(double a) { return 0.5 * __builtin_erfc(a * 0.70710678118654752440); }

/// Within 3 ulp.
inline float erf(float x) {
  const float a = abs(x), s = x * x;
  constexpr float kSmall[] = {0.128379166f,   -0.376126271f,   0.112836002f,    -0.0268544445f,
                              0.00518953516f, -0.00080208397f, 0.0000788911421f};
  const float small = x + x * polynomial(s > 1.0f ? 1.0f : s, kSmall);
  const float large = 1.0f - 2.0f * normal_tail(a * 1.41421356f);
  return a < 1.0f ? small : (x < 0.0f ? -large : large);
}

/// Within 3 ulp.
inline float tanh(float x) {
  const float a = abs(x), s = x * x;
  constexpr float kSmall[] = {-0.333332783f, 0.133313289f, -0.053729227f, 0.020601999f,
                              -0.00566078047f};
  const float small = x + x * s * polynomial(s > 0.4f ? 0.4f : s, kSmall);
  const float large = 1.0f - 2.0f / (exp(2.0f * a) + 1.0f);
  return a < 0.6f ? small : (x < 0.0f ? -large : large);
}

template <class T>
inline T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}

template <class T>
inline T selu(T x) {
  constexpr T kScale = 1.0507009873554805, kAlpha = 1.6732632423543772;
  return kScale * (x > T(0) ? x : kAlpha * expm1_below(x));
}

/// log(1 + e) for e >= 0: the sum's rounding, known exactly, is put back.
template <class T>
inline T log1p_above(T e) {
  const T sum = T(1) + e;
  return log(sum) + (e - (sum - T(1))) / sum;
}
inline double log1p_above(double e) { return __builtin_log1p(e); }

template <class T>
inline T softplus(T x) {
  return x > T(20) ? x : log1p_above(exp(x));
}

template <class T>
inline T mish(T x) {
  // tanh(log(1 + e)) = ((1 + e)^2 - 1) / ((1 + e)^2 + 1)
  const T e = exp(x > T(20) ? T(20) : x), p = e * (e + T(2));
  return x > T(20) ? x : x * (p / (p + T(2)));
}

template <class T>
inline T hardsigmoid(T x) {
  const T v = x / T(6) + T(0.5), below = v < T(0) ? T(0) : v;
  return below > T(1) ? T(1) : below;
}

template <class T>
inline T gelu(T x) {
  const T tail = normal_tail(abs(x));
  return x * (x > T(0) ? T(1) - tail : tail);
}

}  // namespace kbench::reference::KBENCH_ISA
