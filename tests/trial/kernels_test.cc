#include "harness/trial/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "kbench/compare.h"
#include "kbench/random.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::trial {
namespace {

using vulkan::Buffer;
using vulkan::Commands;
using vulkan::whole;

TEST(SplitWork, CoversEveryQuadWithShortLoops) {
  for (const uint64_t words : {uint64_t{1}, uint64_t{4096}, uint64_t{1} << 24, uint64_t{1} << 33}) {
    const WorkSplit split = split_work(words);
    EXPECT_GE(uint64_t{split.groups} * split.iterations * 256, (words + 3) / 4) << words;
    EXPECT_LE(split.iterations, 256u);
    EXPECT_LE(split.groups, 65535u);
  }
}

class KernelsTest : public vulkan::DeviceTest {
 protected:
  template <class Record>
  void run(Record record) {
    Commands commands(device());
    commands.begin();
    record(commands);
    commands.submit_and_wait(60);
  }

  uint64_t hash_of(const Buffer& buffer, uint64_t key = 99) {
    const uint32_t groups = split_work(buffer.size() / 4).groups;
    const Buffer partials = device().allocate(groups * 8);
    Kernels kernels(device());
    run([&](Commands& c) { kernels.hash(c, whole(buffer), key, partials.address()); });
    const std::vector<uint64_t> sums = download<uint64_t>(partials);
    return std::accumulate(sums.begin(), sums.begin() + groups, uint64_t{0});
  }
};

TEST_F(KernelsTest, FillsLookValidAndDifferForEveryKey) {
  Kernels kernels(device());
  const Buffer a = device().allocate(40000), b = device().allocate(40000);
  run([&](Commands& c) {
    kernels.fill(c, whole(a), {DType::f32, 1, 0.5f, 2});
    kernels.fill(c, whole(b), {DType::f32, 2, 0.5f, 2});
  });
  const auto x = download<float>(a), y = download<float>(b);
  size_t equal = 0;
  double squares = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_TRUE(std::isfinite(x[i]) && std::abs(x[i]) <= 0.5f);
    equal += x[i] == y[i];
    squares += double(x[i]) * x[i];
  }
  EXPECT_LE(equal, 1u);
  EXPECT_NEAR(std::sqrt(squares / double(x.size())), 0.5 / std::sqrt(3.0), 0.01);
}

TEST_F(KernelsTest, FillsOfEveryTypeAreFinite) {
  Kernels kernels(device());
  const Buffer buffer = device().allocate(4096);
  run([&](Commands& c) { kernels.fill(c, whole(buffer), {DType::i64, 3, 1, 10}); });
  for (const int64_t v : download<int64_t>(buffer)) ASSERT_TRUE(v >= 0 && v < 10);
  run([&](Commands& c) { kernels.fill(c, whole(buffer), {DType::f64, 3, 1, 10}); });
  for (const double v : download<double>(buffer))
    ASSERT_TRUE(std::abs(v) >= 0.5 && std::abs(v) < 1);
  run([&](Commands& c) { kernels.fill(c, whole(buffer), {DType::boolean, 3, 1, 10}); });
  for (const uint8_t v : download<uint8_t>(buffer)) ASSERT_LE(v, 1);
  run([&](Commands& c) { kernels.fill(c, whole(buffer), {DType::f16, 3, 1, 10}); });
  for (const uint16_t v : download<uint16_t>(buffer)) ASSERT_EQ(v & 0x7c00, 0x3800);
  run([&](Commands& c) { kernels.fill(c, whole(buffer), {DType::bf16, 3, 1, 10}); });
  for (const uint16_t v : download<uint16_t>(buffer)) ASSERT_EQ(v & 0x7f80, 0x3f00);
}

TEST_F(KernelsTest, MaskingHidesAndTheSecondTimeReveals) {
  Kernels kernels(device());
  std::vector<float> values(1003);
  std::iota(values.begin(), values.end(), 0.0f);
  const Buffer buffer = upload(values);
  run([&](Commands& c) { kernels.mask(c, whole(buffer), 7); });
  const auto hidden = download<float>(buffer);
  size_t equal = 0;
  for (size_t i = 0; i < values.size(); ++i) equal += hidden[i] == values[i];
  EXPECT_EQ(equal, 0u);
  run([&](Commands& c) { kernels.mask(c, whole(buffer), 7); });
  EXPECT_EQ(download<float>(buffer), values);
}

TEST_F(KernelsTest, TheHashSeesEveryBitAndEverySwap) {
  std::vector<uint32_t> words(70001);
  std::iota(words.begin(), words.end(), 1000u);
  const uint64_t original = hash_of(upload(words));
  EXPECT_EQ(hash_of(upload(words)), original);
  EXPECT_NE(hash_of(upload(words), 100), original);
  for (const size_t at : {size_t{0}, size_t{1}, size_t{4097}, size_t{65536}, size_t{70000}}) {
    for (const int bit : {0, 13, 31}) {
      auto changed = words;
      changed[at] ^= 1u << bit;
      EXPECT_NE(hash_of(upload(changed)), original) << at << " bit " << bit;
    }
  }
  for (const size_t apart : {1, 2, 4, 1024, 65536}) {
    auto changed = words;
    std::swap(changed[3], changed[3 + apart]);
    EXPECT_NE(hash_of(upload(changed)), original) << apart;
  }
}

TEST_F(KernelsTest, RedzonesShowASingleChangedWord) {
  Kernels kernels(device());
  constexpr uint32_t kZone = 65536;
  const Buffer buffer = device().allocate(3 * kZone);
  const std::vector<uint64_t> table = {buffer.address(), buffer.address() + 2 * kZone};
  const Buffer addresses = upload(table), findings = device().allocate(16);
  const auto check = [&] {
    run([&](Commands& c) {
      kernels.check_zones(c, addresses.address(), 2, kZone, 5, findings.address());
    });
    return download<ZoneFinding>(findings);
  };
  run([&](Commands& c) { kernels.write_zones(c, addresses.address(), 2, kZone, 5); });
  auto found = check();
  EXPECT_EQ(found[0].changed, 0u);
  EXPECT_EQ(found[1].changed, 0u);
  const uint32_t word = 0;
  device().upload(buffer, 2 * kZone + 400, std::as_bytes(std::span(&word, 1)));
  device().upload(buffer, kZone, std::as_bytes(std::span(&word, 1)));  // Between the zones.
  found = check();
  EXPECT_EQ(found[0].changed, 0u);
  EXPECT_EQ(found[1].changed, 1u);
  EXPECT_EQ(found[1].first, 100u);
}

class CompareKernelTest : public KernelsTest {
 protected:
  /// What the device finds, added up over workgroups, and what the truth looks like.
  template <class T>
  std::pair<Comparison, ScaleFinding> compare_on_device(const std::vector<T>& got,
                                                        const std::vector<T>& truth, Fill fill,
                                                        CompareRule rule = {}) {
    fill.dtype = dtype_of<T>();
    const Buffer c = upload(got), r = upload(truth);
    const uint32_t groups = split_work(c.size() / 4).groups;
    const Buffer partials = device().allocate(groups * 16), scale = device().allocate(16);
    const Buffer findings = device().allocate(groups * sizeof(CompareFinding));
    Kernels kernels(device());
    run([&](Commands& commands) {
      kernels.scale(commands, whole(r), fill.dtype, partials.address(), scale.address());
      commands.barrier();
      kernels.compare(commands, whole(c), whole(r), fill, rule, scale.address(),
                      findings.address());
    });
    Comparison sum;
    sum.elements = static_cast<int64_t>(got.size());
    for (const CompareFinding& part : download<CompareFinding>(findings)) {
      sum.wrong += part.wrong;
      sum.not_finite += part.not_finite;
      sum.zero += part.zero;
      sum.untouched += part.untouched;
      sum.max_error = std::max(sum.max_error, double(part.max_error));
      if (part.wrong > 0 && sum.first_wrong < 0) sum.first_wrong = part.first;
    }
    return {sum, download<ScaleFinding>(scale)[0]};
  }

  static std::vector<float> drawn(size_t n, uint64_t seed) {
    const Tensor tensor = draw(normal(0, 3), {seed, 1, "t"}, {DType::f32, {int64_t(n)}});
    const auto data = tensor.data<float>();
    return {data.begin(), data.end()};
  }
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
  EXPECT_EQ(found.wrong, host.wrong);
  EXPECT_EQ(found.not_finite, 2);
  EXPECT_EQ(found.zero, host.zero);
  EXPECT_EQ(found.untouched, 0);
  EXPECT_EQ(found.first_wrong, 77);
  EXPECT_NEAR(found.max_error, host.max_error, 1e-5 * host.max_error);
}

TEST_F(CompareKernelTest, AppliesTheFixedTolerance) {
  const std::vector<float> truth = {0, 100, 100}, got = {0.5e-4f, 100.009f, 100.02f};
  EXPECT_EQ(compare_on_device(got, truth, {}, {1e-4f, 1e-4f}).first.wrong, 1);
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
  EXPECT_EQ(all.untouched, 1001);
  EXPECT_GE(all.wrong, 1000);
  std::copy(truth.begin(), truth.begin() + 600, got.begin());
  const auto some = compare_on_device(got, truth, fill).first;
  EXPECT_EQ(some.untouched, 401);
  EXPECT_EQ(some.first_wrong, 600);
}

TEST_F(CompareKernelTest, IntegersMatchExactly) {
  std::vector<int64_t> truth(5001), got;
  std::iota(truth.begin(), truth.end(), -100);
  got = truth;
  const Fill fill{DType::i64, 1, 1, 10};
  EXPECT_EQ(compare_on_device(got, truth, fill).first.wrong, 0);
  got[5000] += int64_t{1} << 32;
  const auto [found, scale] = compare_on_device(got, truth, fill);
  EXPECT_EQ(found.wrong, 1);
  EXPECT_EQ(found.first_wrong, 5000 % 512);
  EXPECT_EQ(scale.largest, 4900u);
}

TEST_F(CompareKernelTest, NanInTheTruthIsCounted) {
  std::vector<float> truth = drawn(100, 3), got = truth;
  truth[5] = std::numeric_limits<float>::quiet_NaN();
  truth[6] = got[6] = -std::numeric_limits<float>::infinity();
  const auto [found, scale] = compare_on_device(got, truth, {});
  EXPECT_EQ(scale.nans, 1u);
  EXPECT_EQ(found.wrong, 1);  // The same infinity is right.
}

}  // namespace
}  // namespace kbench::trial
