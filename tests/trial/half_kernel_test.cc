// Halves on the device: rounding float32 to them, and holding results of halves to a float32 truth.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "kbench/compare.h"
#include "kbench/random.h"
#include "libkbench/base/half.h"
#include "tests/trial/kernels_fixture.h"

namespace kbench::trial {
namespace {

using vulkan::Buffer;
using vulkan::Commands;
using vulkan::whole;

uint16_t narrow(float value, DType dtype) {
  return dtype == DType::f16 ? to_f16(value) : to_bf16(value);
}
float wide(uint16_t half, DType dtype) {
  return dtype == DType::f16 ? from_f16(half) : from_bf16(half);
}

class HalfKernelTest : public KernelsTest, public ::testing::WithParamInterface<DType> {
 protected:
  /// A step of the type in every element.
  static CompareRule rule() { return {static_cast<float>(half_epsilon(GetParam())), -1}; }

  /// The truth rounded, and a word's other half where their number is odd.
  static std::vector<uint16_t> rounded(const std::vector<float>& truth) {
    std::vector<uint16_t> halves;
    for (const float each : truth) halves.push_back(narrow(each, GetParam()));
    return halves;
  }
  /// `got` has as many halves as the truth has elements, and one more where that is odd.
  CompareSummary compare_on_device(const std::vector<uint16_t>& got,
                                   const std::vector<float>& truth, Fill fill = {}) {
    fill.dtype = GetParam();
    return KernelsTest::compare_on_device(got, truth, fill, rule()).first;
  }
};

TEST_P(HalfKernelTest, AreRoundedAsTheHostRoundsThem) {
  // Every half, what lies between two of them, and what is no number.
  std::vector<float> values;
  for (uint32_t half = 0; half <= 0xffff; ++half) {
    const float value = wide(static_cast<uint16_t>(half), GetParam());
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t step = GetParam() == DType::f16 ? 1u << 12 : 1u << 15;
    values.push_back(value);
    for (const uint32_t off : {1u, step - 1, step, step + 1}) {
      values.push_back(std::bit_cast<float>(bits + off));
    }
  }
  Kernels kernels(device());
  Buffer from = upload(values);
  const Buffer to = device().allocate(values.size() * 2);
  ASSERT_EQ(values.size() % 2, 0u);
  run([&](Commands& c) { kernels.narrow(c, whole(from), whole(to), GetParam()); });
  const auto halves = download<uint16_t>(to);
  const auto back = download<float>(from);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t host = narrow(values[i], GetParam());
    ASSERT_EQ(halves[i], host) << values[i] << " bits " << std::bit_cast<uint32_t>(values[i]);
    if (std::isnan(values[i])) continue;
    ASSERT_EQ(std::bit_cast<uint32_t>(back[i]), std::bit_cast<uint32_t>(wide(host, GetParam())))
        << values[i];
  }
}

TEST_P(HalfKernelTest, BehindAnOddNumberTheWordsRestStays) {
  for (const size_t n : {size_t{1}, size_t{3}, size_t{5}, size_t{4097}}) {
    const auto values = drawn(n);
    const Buffer from = upload(values);
    const Buffer to = upload(std::vector<uint16_t>(n + 1, 0xabcd));
    Kernels kernels(device());
    run([&](Commands& c) { kernels.narrow(c, whole(from), whole(to), GetParam()); });
    const auto halves = download<uint16_t>(to);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(halves[i], narrow(values[i], GetParam())) << i;
    EXPECT_EQ(halves[n], 0xabcd) << n;
  }
}

TEST_P(HalfKernelTest, TheTruthRoundedIsRight) {
  for (const size_t n : {size_t{2}, size_t{10006}}) {
    const auto truth = drawn(n);
    const CompareSummary found = compare_on_device(rounded(truth), truth);
    EXPECT_EQ(found.wrong, 0u) << n;
    EXPECT_EQ(found.first, ~uint64_t{0});
    EXPECT_LE(found.max_error, rule().relative / 2);
    EXPECT_GT(found.squares, 0);
  }
}

TEST_P(HalfKernelTest, FindsWrongAndInfiniteElements) {
  const auto truth = drawn(10006);
  auto got = rounded(truth);
  got[77] = narrow(truth[77] + 1, GetParam());
  got[9000] = narrow(std::numeric_limits<float>::quiet_NaN(), GetParam());
  got[9001] = narrow(std::numeric_limits<float>::infinity(), GetParam());
  got[10005] = 0;
  const CompareSummary found = compare_on_device(got, truth);
  EXPECT_EQ(found.wrong, 4u);
  EXPECT_EQ(found.not_finite, 2u);
  EXPECT_EQ(found.zero, 1u);
  EXPECT_EQ(found.first, 77u);
  EXPECT_EQ(found.got, got[77]);
  EXPECT_EQ(std::bit_cast<float>(static_cast<uint32_t>(found.expected)), truth[77]);
}

/// Numbers between steps, large and small, and below the type's normal numbers.
TEST_P(HalfKernelTest, ErrorsAreThoseThatTheHostFinds) {
  for (const double scale : {100.0, 1.0, smallest_normal(GetParam()) / 4}) {
    std::vector<float> truth = drawn(4098);
    for (size_t i = 0; i < truth.size(); ++i) truth[i] *= static_cast<float>(scale);
    auto got = rounded(truth);
    for (size_t i = 0; i < got.size(); i += 5) got[i] = static_cast<uint16_t>(got[i] + i % 4);
    Tensor halves(GetParam(), {int64_t(got.size())});
    std::memcpy(halves.raw(), got.data(), got.size() * 2);
    Tensor right(DType::f32, {int64_t(truth.size())});
    std::ranges::copy(truth, right.data<float>().begin());
    const Comparison host = compare(halves, right, {rule().relative});
    const CompareSummary found = compare_on_device(got, truth);
    EXPECT_GT(host.wrong, 0);
    EXPECT_NEAR(double(found.wrong), double(host.wrong), 2) << scale;
    EXPECT_NEAR(found.max_error, host.max_error, 1e-4 * host.max_error) << scale;
    const double rms = std::sqrt(found.squares / double(got.size()));
    EXPECT_NEAR(rms, host.rms_error, 1e-4 * host.rms_error) << scale;
  }
}

TEST_P(HalfKernelTest, WhatStillHoldsTheFillIsCounted) {
  const Fill fill{GetParam(), 42, 2, 2};
  Kernels kernels(device());
  const Buffer buffer = device().allocate(2002);
  run([&](Commands& c) { kernels.fill(c, whole(buffer), fill); });
  auto got = download<uint16_t>(buffer);
  const auto truth = drawn(got.size());
  EXPECT_EQ(compare_on_device(got, truth, fill).untouched, got.size());
  const auto right = rounded(truth);
  std::copy(right.begin(), right.begin() + 600, got.begin());
  const CompareSummary some = compare_on_device(got, truth, fill);
  EXPECT_GE(some.untouched, got.size() - 600);
  EXPECT_LE(some.untouched, got.size() - 590);  // A half may be the fill's by chance.
  EXPECT_GE(some.first, 600u);
}

TEST_P(HalfKernelTest, AWriteBehindAnOddNumberIsFound) {
  const size_t n = 4097;
  Kernels kernels(device());
  const Buffer buffer = device().allocate((n + 1) * 2);
  const auto truth = drawn(n);
  for (const Contents contents : kAllContents) {
    const Fill fill{GetParam(), 42, 2, 2, contents};
    run([&](Commands& c) { kernels.fill(c, whole(buffer), fill); });
    const uint16_t behind = download<uint16_t>(buffer)[n];
    auto got = rounded(truth);
    got.push_back(behind);
    CompareSummary found = compare_on_device(got, truth, fill);
    EXPECT_EQ(found.wrong, 0u);
    EXPECT_EQ(found.behind, 0u);
    got[n] = static_cast<uint16_t>(behind ^ 1);
    found = compare_on_device(got, truth, fill);
    EXPECT_EQ(found.wrong, 0u);
    EXPECT_EQ(found.behind, 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HalfKernelTest, ::testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace kbench::trial
