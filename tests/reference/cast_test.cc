// The cast operator on the CPU: exact results, element by element.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/operators/formats.h"
#include "tests/reference/calls.h"

namespace kbench::reference {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor cast(const Tensor& x, DType to) {
  const OperatorCall call =
      make_call(find_operator("cast"), {x.type()}, {{"dtype", std::string(name_of(to))}});
  Tensor y(call.outputs[0]);
  find_implementation("cast").run(call, {&x, 1}, {&y, 1});
  return y;
}

/// `x` as elements of From, cast to To.
template <class To, class From>
std::vector<To> cast(const std::vector<From>& x) {
  return values_of<To>(cast(tensor_of<From>({static_cast<int64_t>(x.size())}, x), dtype_of<To>()));
}

std::vector<uint16_t> codes_of(const Tensor& tensor) {
  std::vector<uint16_t> codes(static_cast<size_t>(tensor.elements()));
  std::memcpy(codes.data(), tensor.raw(), codes.size() * sizeof(uint16_t));
  return codes;
}

/// float16 and bfloat16, and the types that have their bits.
struct Narrow {
  definitions::Format format;
  DType dtype;
};
std::vector<Narrow> narrow() {
  return {{definitions::formats()[0], DType::f16}, {definitions::formats()[1], DType::bf16}};
}

TEST(Cast, RoundsTo16BitsToTheNearestAndEven) {
  for (const auto& [format, dtype] : narrow()) {
    std::vector<float> x;
    std::vector<double> truth;
    for (const auto& [from, to] : definitions::roundings(format)) {
      x.insert(x.end(), {from, -from});
      truth.insert(truth.end(), {to, -to});
    }
    const Tensor single = tensor_of<float>({static_cast<int64_t>(x.size())}, x);
    for (const Tensor& from : {single, single.converted(DType::f64)}) {
      const auto codes = codes_of(cast(from, dtype));
      for (size_t i = 0; i < x.size(); ++i) {
        const double value = (codes[i] & 0x7fff) == format.infinity()
                                 ? kInfinity
                                 : format.decoded(codes[i] & 0x7fff);
        ASSERT_EQ(codes[i] & 0x8000 ? -value : value, truth[i]) << x[i] << " to " << format.name;
        ASSERT_EQ(codes[i] >> 15, std::signbit(x[i])) << x[i] << " to " << format.name;
      }
    }
    const auto nan = codes_of(cast(tensor_of<float>({1}, std::vector<float>{kNan}), dtype))[0];
    EXPECT_GT(nan & 0x7fff, format.infinity());
  }
}

TEST(Cast, ReadsEvery16BitNumber) {
  for (const auto& [format, dtype] : narrow()) {
    Tensor x(dtype, {1 << 16});
    for (int i = 0; i < 1 << 16; ++i) {
      const auto code = static_cast<uint16_t>(i);
      std::memcpy(x.raw() + 2 * i, &code, 2);
    }
    const auto y = values_of<float>(cast(x, DType::f32));
    const auto wide = values_of<double>(cast(x, DType::f64));
    for (int i = 0; i < 1 << 16; ++i) {
      const int64_t size = i & 0x7fff;
      if (size > format.infinity()) {
        ASSERT_TRUE(std::isnan(y[i]) && std::isnan(wide[i])) << i;
        continue;
      }
      const double value = size == format.infinity() ? kInfinity : format.decoded(size);
      ASSERT_EQ(y[i], i >> 15 ? -value : value) << format.name << " " << i;
      ASSERT_EQ(wide[i], y[i]) << format.name << " " << i;
    }
  }
}

TEST(Cast, FloatsEndAtTheEndOfAnIntegersRange) {
  const std::vector<float> x = {kNan, kInfinity, -kInfinity, 1e30f,  -1e30f,
                                2.9f, -2.9f,     -0.5f,      255.5f, 4e9f};
  EXPECT_EQ((cast<uint8_t>(x)), (std::vector<uint8_t>{0, 255, 0, 255, 0, 2, 0, 0, 255, 255}));
  constexpr int32_t kMost = INT32_MAX, kLeast = INT32_MIN;
  EXPECT_EQ((cast<int32_t>(x)),
            (std::vector<int32_t>{0, kMost, kLeast, kMost, kLeast, 2, -2, 0, 255, kMost}));
  EXPECT_EQ((cast<uint32_t>(x)),
            (std::vector<uint32_t>{0, UINT32_MAX, 0, UINT32_MAX, 0, 2, 0, 0, 255, 4000000000u}));
  EXPECT_EQ((cast<int64_t>(x)), (std::vector<int64_t>{0, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN,
                                                      2, -2, 0, 255, 4000000000}));
  EXPECT_EQ((cast<int32_t>(std::vector<double>{2147483647.5, -2147483648.5, 2147483646.9})),
            (std::vector<int32_t>{kMost, kLeast, kMost - 1}));
}

TEST(Cast, IntegersAreCutOff) {
  const std::vector<int64_t> x = {-1, 256, 511, int64_t{1} << 40, (int64_t{1} << 32) + 7};
  EXPECT_EQ((cast<uint8_t>(x)), (std::vector<uint8_t>{255, 0, 255, 0, 7}));
  EXPECT_EQ((cast<int32_t>(x)), (std::vector<int32_t>{-1, 256, 511, 0, 7}));
  EXPECT_EQ((cast<uint32_t>(x)), (std::vector<uint32_t>{UINT32_MAX, 256, 511, 0, 7}));
  EXPECT_EQ((cast<int64_t>(std::vector<uint32_t>{UINT32_MAX})), (std::vector<int64_t>{UINT32_MAX}));
  EXPECT_EQ((cast<float>(std::vector<int32_t>{-7, 16777217})), (std::vector<float>{-7, 16777216}));
}

TEST(Cast, BoolsSayWhetherItIsZero) {
  const std::vector<float> x = {0.0f, -0.0f, 1e-40f, -3, kNan, kInfinity};
  EXPECT_EQ((cast<bool>(x)), (std::vector<bool>{false, false, true, true, true, true}));
  EXPECT_EQ((cast<bool>(std::vector<int64_t>{0, int64_t{1} << 40})),
            (std::vector<bool>{false, true}));
  EXPECT_EQ((cast<float>(std::vector<bool>{false, true})), (std::vector<float>{0, 1}));
}

}  // namespace
}  // namespace kbench::reference
