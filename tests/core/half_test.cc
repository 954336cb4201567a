#include "libkbench/base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace kbench {
namespace {

struct Format {
  std::string name;
  uint16_t (*to)(float);
  float (*from)(uint16_t);
  int exponent_bits, mantissa_bits;

  uint16_t infinity() const {
    return static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  }
  /// A number from its fields, by arithmetic in double.
  double value_of(uint16_t bits) const {
    const int exponent = (bits & 0x7fff) >> mantissa_bits;
    const int mantissa = bits & ((1 << mantissa_bits) - 1);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const double size = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                      : std::ldexp(mantissa + (1 << mantissa_bits),
                                                   exponent - bias - mantissa_bits);
    return bits & 0x8000 ? -size : size;
  }
};

class Halves : public ::testing::TestWithParam<Format> {};

TEST_P(Halves, EveryValueIsExactInFloat32AndComesBack) {
  const Format& format = GetParam();
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = format.from(half);
    if ((half & 0x7fff) > format.infinity()) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_GT(format.to(value) & 0x7fff, format.infinity()) << bits;
      EXPECT_EQ(format.to(value) & 0x8000, half & 0x8000) << bits;
      continue;
    }
    if ((half & 0x7fff) == format.infinity()) {
      EXPECT_TRUE(std::isinf(value)) << bits;
    } else {
      EXPECT_EQ(value, format.value_of(half)) << bits;
    }
    EXPECT_EQ(std::signbit(value), (half & 0x8000) != 0) << bits;
    EXPECT_EQ(format.to(value), half) << bits;
  }
}

// Between each two neighbours, the largest finite value and what would be the next among them: the
// middle goes to the even one, what lies beside the middle to the nearer.
TEST_P(Halves, TheNearestIsTakenAndTiesGoToTheEvenOne) {
  const Format& format = GetParam();
  for (uint16_t low = 0; low < format.infinity(); ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const auto middle = static_cast<float>((format.value_of(low) + format.value_of(high)) / 2);
    ASSERT_EQ(middle, (format.value_of(low) + format.value_of(high)) / 2);
    const float below = std::nextafter(middle, 0.0f);
    const float above = std::nextafter(middle, std::numeric_limits<float>::infinity());
    for (const uint16_t sign : {0, 0x8000}) {
      const float s = sign ? -1.0f : 1.0f;
      ASSERT_EQ(format.to(s * middle), (low % 2 == 0 ? low : high) | sign) << middle;
      ASSERT_EQ(format.to(s * below), low | sign) << below;
      ASSERT_EQ(format.to(s * above), high | sign) << above;
    }
  }
}

TEST_P(Halves, InfinityIsKeptAndWhatIsTooLargeBecomesIt) {
  const Format& format = GetParam();
  using Limits = std::numeric_limits<float>;
  EXPECT_EQ(format.to(Limits::infinity()), format.infinity());
  EXPECT_EQ(format.to(-Limits::infinity()), format.infinity() | 0x8000);
  EXPECT_EQ(format.to(Limits::max()), format.infinity());
  EXPECT_EQ(format.to(-Limits::max()), format.infinity() | 0x8000);
  EXPECT_EQ(format.to(-0.0f), 0x8000);
}

INSTANTIATE_TEST_SUITE_P(Formats, Halves,
                         ::testing::Values(Format{"f16", to_f16, from_f16, 5, 10},
                                           Format{"bf16", to_bf16, from_bf16, 8, 7}),
                         [](const auto& info) { return info.param.name; });

TEST(Halves, KnownValues) {
  EXPECT_EQ(to_f16(65504.0f), 0x7bff);
  EXPECT_EQ(to_f16(65519.996f), 0x7bff);
  EXPECT_EQ(to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(to_f16(1.0f), 0x3c00);
  EXPECT_EQ(to_f16(0x1p-24f), 0x0001);
  EXPECT_EQ(to_f16(0x1p-25f), 0x0000);
  EXPECT_EQ(to_f16(0x1.000002p-25f), 0x0001);
  EXPECT_EQ(to_f16(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_EQ(to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(to_bf16(1.00390625f), 0x3f80);  // a tie
  EXPECT_EQ(from_f16(0x3555), 0.333251953125f);
}

}  // namespace
}  // namespace kbench
