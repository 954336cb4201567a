// Logarithm, cosine and exponential in double precision from additions, multiplications and one
// division alone, so that a shader that does the same operations in the same order gets the same
// bits. The mirrors are draw_common.glsl and draw_softmax.comp in harness/measure/trial/shaders; a
// change here must be made there.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace kbench {

/// ln(m * 2^-24) for 1 <= m <= 2^24; about 1 ulp.
[[gnu::always_inline]] inline double log_of_fraction(uint32_t m) {
  // m = 2^e * f, f in [1, 2); move f above sqrt(2) down by one octave so that |f - 1| is small.
  const uint64_t bits = std::bit_cast<uint64_t>(static_cast<double>(m));
  const uint64_t above = (bits & 0xFFFFFFFFFFFFFull) > 0x6A09E667F3BCDull ? 1 : 0;
  const int32_t exponent =
      static_cast<int32_t>(bits >> 52) - 1023 - 24 + static_cast<int32_t>(above);
  const double f =
      std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFull) | ((uint64_t{1023} - above) << 52));
  // ln f = 2 atanh(s), s = (f - 1) / (f + 1), |s| <= 0.1716: the series to s^21.
  const double s = (f - 1.0) / (f + 1.0);
  const double z = s * s;
  double p = 1.0 / 21.0;
  p = p * z + 1.0 / 19.0;
  p = p * z + 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  p = p * z;
  const double t = s + s;
  return static_cast<double>(exponent) * 0.693147180559945309417232 + (t + t * p);
}

/// cos(2 pi m * 2^-24) for 0 <= m < 2^24; about 1 ulp.
[[gnu::always_inline]] inline double cos_of_turn(uint32_t m) {
  // Nearest quarter turn q and the exact rest r in [-1/2, 1/2] quarters.
  const uint32_t q = (m + (1u << 21)) >> 22;
  const double r = static_cast<double>(static_cast<int32_t>(m) - static_cast<int32_t>(q << 22)) *
                   (1.0 / 4194304.0);
  const double a = r * 1.57079632679489661923132;
  const double z = a * a;
  double c = 1.0 / 20922789888000.0;
  c = c * z - 1.0 / 87178291200.0;
  c = c * z + 1.0 / 479001600.0;
  c = c * z - 1.0 / 3628800.0;
  c = c * z + 1.0 / 40320.0;
  c = c * z - 1.0 / 720.0;
  c = c * z + 1.0 / 24.0;
  c = c * z - 0.5;
  c = c * z + 1.0;
  double d = 1.0 / 355687428096000.0;
  d = d * z - 1.0 / 1307674368000.0;
  d = d * z + 1.0 / 6227020800.0;
  d = d * z - 1.0 / 39916800.0;
  d = d * z + 1.0 / 362880.0;
  d = d * z - 1.0 / 5040.0;
  d = d * z + 1.0 / 120.0;
  d = d * z - 1.0 / 6.0;
  d = a + a * (z * d);
  const double magnitude = (q & 1u) ? d : c;
  // cos(q pi/2 + a): cos a, -sin a, -cos a, sin a.
  return ((q + 1u) & 2u) ? -magnitude : magnitude;
}

/// e^x for |x| <= 700; about 1 ulp.
[[gnu::always_inline]] inline double exp_of(double x) {
  // x = k ln 2 + r, |r| <= 0.3466, ln 2 in two parts; the series of e^r to r^13.
  const double k = std::floor(x * 1.44269504088896340736 + 0.5);
  const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  return p * std::bit_cast<double>(static_cast<uint64_t>(1023 + static_cast<int>(k)) << 52);
}

// Philox4x32-10 rounds (Salmon et al., SC 2011), written to inline into vectorised loops.

[[gnu::always_inline]] inline void philox_rounds(uint32_t& c0, uint32_t& c1, uint32_t& c2,
                                                 uint32_t& c3, uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c0;
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * c2;
    const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p1);
    c3 = static_cast<uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

}  // namespace kbench
