#include "tests/reference/calls.h"

namespace kbench::reference {
namespace {

template <class T>
class Norm : public ::testing::Test {};
TYPED_TEST_SUITE(Norm, RealTypes);

constexpr double kEps = 1e-3;

/// The operator's values without weight and bias, then with them; in place too.
template <class T>
std::vector<std::vector<T>> run_norm(const char* op, const Tensor& x, const std::vector<T>& weight,
                                     const std::vector<T>& bias, Attributes attributes = {}) {
  attributes.set("eps", kEps);
  const Shape shape = {static_cast<int64_t>(weight.size())};
  return {
      run_twice<T>(op, {x}, attributes),
      run_twice<T>(op, {x, tensor_of<T>(shape, weight), tensor_of<T>(shape, bias)}, attributes)};
}

/// Normalises the elements that `indices` lists, in place.
void normalize(std::vector<double>& x, const std::vector<int64_t>& indices) {
  const auto n = static_cast<long double>(indices.size());
  long double mean = 0, variance = 0;
  for (int64_t i : indices) mean += x[i] / n;
  for (int64_t i : indices) variance += (x[i] - mean) * (x[i] - mean) / n;
  for (int64_t i : indices) {
    x[i] =
        static_cast<double>((x[i] - mean) / std::sqrt(variance + static_cast<long double>(kEps)));
  }
}

TYPED_TEST(Norm, BatchNormUsesBiasedStatisticsOfEachChannel) {
  using T = TypeParam;
  struct Case {
    int64_t batch, channels, inner;
  };
  for (const auto& [batch, channels, inner] :
       {Case{5, 37, 1}, Case{3, 19, 7}, Case{2, 5, 131}, Case{7, 3, 9001}}) {
    auto x = random_array<T>(batch * channels * inner, 1);
    for (T& v : x) v = v * 2 + 5;
    const auto weight = random_array<T>(channels, 2), bias = random_array<T>(channels, 3);
    std::vector<double> truth(x.begin(), x.end());
    for (int64_t c = 0; c < channels; ++c) {
      std::vector<int64_t> indices;
      for (int64_t b = 0; b < batch; ++b) {
        for (int64_t s = 0; s < inner; ++s) indices.push_back((b * channels + c) * inner + s);
      }
      normalize(truth, indices);
    }
    const auto y = run_norm("batch_norm", tensor_of<T>({batch, channels, inner}, x), weight, bias);
    expect_close(y[0], truth, 8);
    for (size_t i = 0; i < truth.size(); ++i) {
      const int64_t c = static_cast<int64_t>(i) / inner % channels;
      truth[i] = truth[i] * weight[c] + bias[c];
    }
    expect_close(y[1], truth, 8);
  }
}

TYPED_TEST(Norm, LayerNormUsesBiasedStatisticsOfEachRow) {
  using T = TypeParam;
  for (const auto& [rows, n] : {std::pair<int64_t, int64_t>{7, 5}, {1, 70001}, {3, 300007}}) {
    const auto x = random_array<T>(rows * n, 1);
    const auto weight = random_array<T>(n, 2), bias = random_array<T>(n, 3);
    std::vector<double> truth(x.begin(), x.end());
    for (int64_t r = 0; r < rows; ++r) {
      std::vector<int64_t> indices(n);
      for (int64_t i = 0; i < n; ++i) indices[i] = r * n + i;
      normalize(truth, indices);
    }
    const auto y = run_norm("layer_norm", tensor_of<T>({rows, n}, x), weight, bias);
    expect_close(y[0], truth, 8);
    for (size_t i = 0; i < truth.size(); ++i) truth[i] = truth[i] * weight[i % n] + bias[i % n];
    expect_close(y[1], truth, 8);
  }
}

TYPED_TEST(Norm, GroupNormUsesStatisticsOfEachSampleAndGroup) {
  using T = TypeParam;
  struct Case {
    int64_t batch, channels, inner, groups;
  };
  // As many groups as channels: an instance norm. One sample in one group: fewer rows than threads.
  for (const auto& [batch, channels, inner, groups] :
       {Case{5, 33, 1, 3}, Case{3, 15, 7, 5}, Case{2, 9, 131, 9}, Case{1, 6, 20011, 1},
        Case{3, 7, 1, 1}}) {
    auto x = random_array<T>(batch * channels * inner, 1);
    for (T& v : x) v = v * 2 + 5;
    const auto weight = random_array<T>(channels, 2), bias = random_array<T>(channels, 3);
    std::vector<double> truth(x.begin(), x.end());
    const int64_t n = channels / groups * inner;
    for (int64_t r = 0; r < batch * groups; ++r) {
      std::vector<int64_t> indices(n);
      for (int64_t i = 0; i < n; ++i) indices[i] = r * n + i;
      normalize(truth, indices);
    }
    const Tensor whole = tensor_of<T>({batch, channels, inner}, x);
    const auto y = run_norm("group_norm", whole, weight, bias, {{"groups", groups}});
    expect_close(y[0], truth, 8);
    for (size_t i = 0; i < truth.size(); ++i) {
      const int64_t c = static_cast<int64_t>(i) / inner % channels;
      truth[i] = truth[i] * weight[c] + bias[c];
    }
    expect_close(y[1], truth, 8);
    if (groups == channels && inner > 1) {
      EXPECT_EQ(run_norm("instance_norm", whole, weight, bias), y);
    }
  }
}

TYPED_TEST(Norm, VarianceSurvivesALargeMean) {
  // Exact in T: 4096 + {0, 1} alternating has variance 1/4; a sum of squares in T would lose it.
  std::vector<TypeParam> x(10000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<TypeParam>(4096 + i % 2);
  const auto y =
      run_twice<TypeParam>("layer_norm", {tensor_of<TypeParam>({10000}, x)}, {{"eps", 0.0}});
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], i % 2 ? 1 : -1, 1e-3);
}

}  // namespace
}  // namespace kbench::reference
