#include "kbench/error.h"
#include "tests/reference/calls.h"

namespace kbench::reference {
namespace {

template <class T>
class Loss : public ::testing::Test {};
TYPED_TEST_SUITE(Loss, RealTypes);

/// A loss of inputs of one shape.
template <class T>
T loss_of(const char* op, const Shape& shape, const std::vector<std::vector<T>>& inputs,
          Attributes attributes = {}) {
  std::vector<Tensor> tensors;
  for (const auto& values : inputs) tensors.push_back(tensor_of<T>(shape, values));
  return run_call<T>(op, tensors, std::move(attributes))[0].template data<T>()[0];
}

template <class T>
T cross_entropy(const std::vector<T>& x, const std::vector<int64_t>& target, int64_t classes) {
  const auto rows = static_cast<int64_t>(target.size());
  return run_call<T>("cross_entropy",
                     {tensor_of<T>({rows, classes}, x), tensor_of<int64_t>({rows}, target)})[0]
      .template data<T>()[0];
}

TYPED_TEST(Loss, CrossEntropyIsTheMeanOverRows) {
  using T = TypeParam;
  for (int64_t classes : {3, 10, 41, 1003}) {
    constexpr int64_t kRows = 301;
    const auto x = random_array<T>(kRows * classes);
    std::vector<int64_t> target(kRows);
    double truth = 0;
    for (int64_t i = 0; i < kRows; ++i) {
      target[i] = i * 7 % classes;
      double sum = 0;
      for (int64_t j = 0; j < classes; ++j) sum += std::exp(double(x[i * classes + j]));
      truth += (std::log(sum) - x[i * classes + target[i]]) / kRows;
    }
    expect_close<T>({cross_entropy(x, target, classes)}, {truth}, 4);
  }
  EXPECT_THROW(cross_entropy(std::vector<TypeParam>(6), {0, 3}, 3), Error);
  EXPECT_THROW(cross_entropy(std::vector<TypeParam>(6), {-1, 0}, 3), Error);
}

TYPED_TEST(Loss, SmoothL1IsQuadraticBelowOneAndLinearAbove) {
  using T = TypeParam;
  for (int64_t n : {1, 37, 200003}) {
    const auto x = random_array<T>(n, 1), target = random_array<T>(n, 2);
    double truth = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double d = std::abs(double(x[i]) - target[i]);
      truth += (d < 1 ? d * d / 2 : d - 0.5) / static_cast<double>(n);
    }
    const double ulps = sizeof(T) == 4 ? 4 : static_cast<double>(n);
    expect_close<T>({loss_of<T>("smooth_l1_loss", {n}, {x, target})}, {truth}, ulps);
  }
}

TYPED_TEST(Loss, KlDivergenceLeavesOutZeroTargets) {
  using T = TypeParam;
  constexpr int64_t kBatch = 7, kClasses = 30011;
  const auto log_input = random_array<T>(kBatch * kClasses, 1);
  auto target = random_array<T>(kBatch * kClasses, 2);
  double truth = 0;
  for (size_t i = 0; i < target.size(); ++i) {
    target[i] = i % 5 == 0 ? T(0) : std::abs(target[i]);
    if (target[i] == 0) continue;
    truth += double(target[i]) * (std::log(double(target[i])) - log_input[i]) / kBatch;
  }
  const T got = loss_of<T>("kl_div_batchmean", {kBatch, kClasses}, {log_input, target});
  EXPECT_NEAR(got / truth, 1, sizeof(T) == 4 ? 1e-5 : 1e-10);
}

TYPED_TEST(Loss, TripletMarginComparesDistances) {
  using T = TypeParam;
  constexpr int64_t kRows = 31, kFeatures = 5003;
  const auto a = random_array<T>(kRows * kFeatures, 1);
  const auto p = random_array<T>(kRows * kFeatures, 2);
  const auto n = random_array<T>(kRows * kFeatures, 3);
  double truth = 0;
  int held = 0;
  for (int64_t r = 0; r < kRows; ++r) {
    double near = 0, far = 0;
    for (int64_t i = r * kFeatures; i < (r + 1) * kFeatures; ++i) {
      near += std::pow(double(a[i]) - p[i] + 1e-6, 2);
      far += std::pow(double(a[i]) - n[i] + 1e-6, 2);
    }
    const double excess = std::sqrt(near) - std::sqrt(far) + 0.25;
    held += excess <= 0;
    truth += std::max(excess, 0.0) / kRows;
  }
  EXPECT_GT(held, 3);  // both sides of the margin are met
  EXPECT_LT(held, kRows - 3);
  const T got =
      loss_of<T>("triplet_margin_loss", {kRows, kFeatures}, {a, p, n}, {{"margin", 0.25}});
  EXPECT_NEAR(got, truth, sizeof(T) == 4 ? 2e-5 : 1e-12);
}

}  // namespace
}  // namespace kbench::reference
