// The truth's scale and the comparison on the device.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "kbench/compare.h"
#include "kbench/random.h"
#include "tests/trial/kernels_fixture.h"

namespace kbench::trial {
namespace {

using vulkan::Buffer;
using vulkan::Commands;
using vulkan::whole;

class CompareKernelTest : public KernelsTest {
 protected:
  template <class T>
  std::pair<CompareSummary, ScaleFinding> compare_on_device(const std::vector<T>& got,
                                                            const std::vector<T>& truth, Fill fill,
                                                            CompareRule rule = {}) {
    fill.dtype = dtype_of<T>();
    return KernelsTest::compare_on_device(got, truth, fill, rule);
  }
  static float as_float(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

  static Tensor tensor_of(const std::vector<float>& values) {
    Tensor tensor(DType::f32, {static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), tensor.data<float>().begin());
    return tensor;
  }
};

TEST_F(CompareKernelTest, FindsWhatTheHostFinds) {
  const auto truth = drawn(10007, 1);
  auto got = truth;
  for (size_t i = 0; i < got.size(); ++i) got[i] += 1e-5f * float(i % 7);
  got[77] += 1;
  got[9000] = std::numeric_limits<float>::quiet_NaN();
  got[9001] = std::numeric_limits<float>::infinity();
  got[10006] = 0;
  const auto [found, scale] = compare_on_device(got, truth, {DType::f32, 1, 1, 2});
  const Comparison host = compare(tensor_of(got), tensor_of(truth), 1e-4);
  EXPECT_NEAR(scale.rms, host.truth_rms, 1e-5 * host.truth_rms);
  EXPECT_EQ(found.wrong, static_cast<uint64_t>(host.wrong));
  EXPECT_EQ(found.not_finite, 2u);
  EXPECT_EQ(found.zero, static_cast<uint64_t>(host.zero));
  EXPECT_EQ(found.untouched, 0u);
  EXPECT_EQ(found.first, 77u);
  EXPECT_EQ(as_float(found.got), got[77]);
  EXPECT_EQ(as_float(found.expected), truth[77]);
  EXPECT_NEAR(found.max_error, host.max_error, 1e-5 * host.max_error);
}

TEST_F(CompareKernelTest, AppliesTheFixedTolerance) {
  const std::vector<float> truth = {0, 100, 100}, got = {0.5e-4f, 100.009f, 100.02f};
  EXPECT_EQ(compare_on_device(got, truth, {}, {1e-4f, 1e-4f}).first.wrong, 1u);
}

TEST_F(CompareKernelTest, CountsElementsThatStillHoldTheFill) {
  const Fill fill{DType::f32, 42, 2, 2};
  Kernels kernels(device());
  const Buffer buffer = device().allocate(4004);
  run([&](Commands& c) { kernels.fill(c, whole(buffer), fill); });
  auto got = download<float>(buffer);
  const auto truth = drawn(got.size(), 2);
  // A fill never equals the truth.
  const auto all = compare_on_device(got, truth, fill).first;
  EXPECT_EQ(all.untouched, 1001u);
  EXPECT_GE(all.wrong, 1000u);
  std::copy(truth.begin(), truth.begin() + 600, got.begin());
  const auto some = compare_on_device(got, truth, fill).first;
  EXPECT_EQ(some.untouched, 401u);
  EXPECT_EQ(some.first, 600u);
}

TEST_F(CompareKernelTest, IntegersMatchExactly) {
  std::vector<int64_t> truth(5001), got;
  std::iota(truth.begin(), truth.end(), -100);
  got = truth;
  const Fill fill{DType::i64, 1, 1, 10};
  const CompareSummary right = compare_on_device(got, truth, fill).first;
  EXPECT_EQ(right.wrong, 0u);
  EXPECT_EQ(right.first, ~uint64_t{0});
  got[5000] += int64_t{1} << 32;
  const auto [found, scale] = compare_on_device(got, truth, fill);
  EXPECT_EQ(found.wrong, 1u);
  EXPECT_EQ(found.first, 5000u);
  EXPECT_EQ(static_cast<int64_t>(found.got), 4900 + (int64_t{1} << 32));
  EXPECT_EQ(static_cast<int64_t>(found.expected), 4900);
  EXPECT_EQ(scale.largest, 4900u);
  got[17] = -1;
  const CompareSummary two = compare_on_device(got, truth, fill).first;
  EXPECT_EQ(two.wrong, 2u);
  EXPECT_EQ(two.first, 17u);
  EXPECT_EQ(static_cast<int64_t>(two.got), -1);
}

TEST_F(CompareKernelTest, FindsAWrongElementInAnyWorkgroup) {
  const auto truth = drawn(300001, 4);  // 293 workgroups, the last nearly empty
  const size_t last = truth.size() - 1;
  for (const size_t at :
       {size_t{0}, size_t{1023}, size_t{1024}, size_t{299007}, size_t{299008}, last}) {
    auto got = truth;
    got[at] += 50;
    if (at > 0) got[last] -= 60;
    const CompareSummary found = compare_on_device(got, truth, {}).first;
    EXPECT_EQ(found.wrong, at > 0 && at < last ? 2u : 1u) << at;
    EXPECT_EQ(found.first, at);
    EXPECT_EQ(as_float(found.got), got[at]) << at;
    EXPECT_EQ(as_float(found.expected), truth[at]) << at;
  }
}

TEST_F(CompareKernelTest, AddsFindingsUpBeyond32Bits) {
  // As after a comparison of 2^34 elements.
  constexpr uint32_t kGroups = 65536, kElements = 262144;
  std::vector<Kernels::CompareFinding> findings(
      kGroups, {0, kElements, kElements, kElements, 0xFFFFFFFFu, 0.5f, 0, 0, 0, 0});
  for (const uint32_t group : {65500u, 65535u}) {
    findings[group].wrong = kElements - 7;
    findings[group].first = 7;
    findings[group].max_error = 2;
    findings[group].got = group;
    findings[group].expected = uint64_t{group} << 40;
  }
  const Buffer parts = upload(findings), summary = device().allocate(sizeof(CompareSummary));
  Kernels kernels(device());
  run([&](Commands& c) {
    kernels.sum_findings(c, parts.address(), kGroups, kElements, summary.address());
  });
  const CompareSummary sum = download<CompareSummary>(summary)[0];
  EXPECT_EQ(sum.wrong, 2u * (kElements - 7));
  EXPECT_EQ(sum.not_finite, uint64_t{1} << 34);
  EXPECT_EQ(sum.zero, uint64_t{1} << 34);
  EXPECT_EQ(sum.untouched, uint64_t{1} << 34);
  EXPECT_EQ(sum.first, uint64_t{65500} * kElements + 7);
  EXPECT_EQ(sum.got, 65500u);
  EXPECT_EQ(sum.expected, uint64_t{65500} << 40);
  EXPECT_EQ(sum.max_error, 2);
}

TEST_F(CompareKernelTest, NonFiniteElementsOfTheTruthAreCounted) {
  std::vector<float> truth = drawn(3000, 3), got = truth;
  const float infinity = std::numeric_limits<float>::infinity();
  truth[5] = truth[2999] = std::numeric_limits<float>::quiet_NaN();
  truth[6] = got[6] = -infinity;
  truth[1500] = truth[2500] = infinity;
  const auto [found, scale] = compare_on_device(got, truth, {});
  EXPECT_EQ(scale.nans, 2u);
  EXPECT_EQ(scale.infinities, 3u);
  EXPECT_EQ(scale.largest, 0u);
  EXPECT_EQ(found.wrong, 4u);  // The same infinity is right.
  double squares = 0;
  for (const float value : truth) squares += std::isfinite(value) ? double(value) * value : 0;
  EXPECT_NEAR(scale.rms, std::sqrt(squares / 3000), 1e-5 * scale.rms);
}

}  // namespace
}  // namespace kbench::trial
