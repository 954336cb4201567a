// The values of floating-point formats of few bits, one after another, and how what lies between
// two of them is rounded.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kbench::definitions {

struct Format {
  std::string name;
  int exponent_bits = 0, mantissa_bits = 0;

  /// The value that the bits of `code` stand for, those of infinity being the next power of two.
  double decoded(int64_t code) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int64_t one = int64_t{1} << mantissa_bits, mantissa = code % one;
    const int exponent = static_cast<int>(code / one);
    if (exponent == 0) return std::ldexp(mantissa, 1 - bias - mantissa_bits);
    return std::ldexp(one + mantissa, exponent - bias - mantissa_bits);
  }
  int64_t infinity() const { return ((int64_t{1} << exponent_bits) - 1) << mantissa_bits; }
};

inline const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {"float16", 5, 10}, {"bfloat16", 8, 7}, {"tf32", 8, 10}, {"float8_e4m3", 8, 3}};
  return all;
}

struct Rounding {
  float from = 0, to = 0;
};

/// Of every value of the format that is not negative: the value itself, the middle between it and
/// the next one, and the float32 on either side of the middle.
inline std::vector<Rounding> roundings(const Format& format) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<Rounding> all = {{kInfinity, kInfinity}};
  for (int64_t code = 0; code < format.infinity(); ++code) {
    const double low = format.decoded(code), high = format.decoded(code + 1);
    const auto below = static_cast<float>(low), middle = static_cast<float>((low + high) / 2);
    const float above = code + 1 == format.infinity() ? kInfinity : static_cast<float>(high);
    all.push_back({below, below});
    all.push_back({std::nextafter(middle, 0.0f), below});
    all.push_back({middle, code % 2 == 0 ? below : above});
    all.push_back({std::nextafter(middle, kInfinity), above});
  }
  return all;
}

}  // namespace kbench::definitions
