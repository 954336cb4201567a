// The vector kernels of every instruction set this machine runs, against the C library in double.
#include <functional>
#include <string>

#include "reference/simd/kernels.h"
#include "tests/reference/arrays.h"

namespace kbench::reference {
namespace {

/// Distance in units of the last place of the float nearest to the truth.
double ulps_between(float got, double truth) {
  const auto nearest = static_cast<float>(truth);
  if (std::isinf(nearest) || std::isinf(got)) return got == nearest ? 0 : 1e9;
  const float magnitude = std::max(std::abs(nearest), std::numeric_limits<float>::min());
  const double ulp = std::nextafter(magnitude, std::numeric_limits<float>::infinity()) - magnitude;
  return std::abs(got - truth) / ulp;
}

void expect_unary(Unary op, float low, float high, double ulps,
                  const std::function<double(double)>& truth, float value = 0) {
  constexpr int kCount = 200001;  // odd, so that every tail length of a vector loop is met
  std::vector<float> x(kCount), y(kCount);
  for (int i = 0; i < kCount; ++i) x[i] = low + (high - low) * static_cast<float>(i) / (kCount - 1);
  KernelSet<float> sets[3];
  for (int s = 0, n = kernel_sets(sets); s < n; ++s) {
    sets[s].kernels->unary(op, value, x.data(), y.data(), kCount);
    double worst = 0;
    float at = 0;
    for (int i = 0; i < kCount; ++i) {
      const double error = ulps_between(y[i], truth(x[i]));
      if (error > worst) worst = error, at = x[i];
    }
    EXPECT_LE(worst, ulps) << sets[s].name << " at " << at;
  }
}

TEST(SimdMath, ExpIsWithinTwoUlpsAndReachesZeroAndInfinity) {
  expect_unary(Unary::exp, -110, 95, 2, [](double x) { return std::exp(x); });
}
TEST(SimdMath, LogIsWithinTwoUlps) {
  expect_unary(Unary::log, 1e-6f, 4, 2, [](double x) { return std::log(x); });
  expect_unary(Unary::log, 1, 1e30f, 2, [](double x) { return std::log(x); });
}
TEST(SimdMath, ErfIsWithinThreeUlps) {
  expect_unary(Unary::erf, -6, 6, 3, [](double x) { return std::erf(x); });
}
TEST(SimdMath, TanhIsWithinThreeUlps) {
  expect_unary(Unary::tanh, -12, 12, 3, [](double x) { return std::tanh(x); });
}
TEST(SimdMath, SigmoidIsWithinFourUlps) {
  expect_unary(Unary::sigmoid, -80, 80, 4, [](double x) { return 1 / (1 + std::exp(-x)); });
}
TEST(SimdMath, GeluIsWithinEightUlpsDownToItsTail) {
  // In the tail exp's argument reaches -20, and each of its roundings there is worth 16 ulps.
  const auto truth = [](double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; };
  expect_unary(Unary::gelu, -1, 20, 8, truth);
  expect_unary(Unary::gelu, -5.9f, -1, 80, truth);
}

TEST(SimdMath, EluIsWithinFourUlpsOnBothSides) {
  const auto truth = [](double x) { return x > 0 ? x : std::expm1(x); };
  expect_unary(Unary::elu, -100, 10, 4, truth, 1);
  expect_unary(Unary::elu, -0.01f, 0, 4, truth, 1);
}
TEST(SimdMath, SoftplusIsWithinFourUlpsDownToItsTail) {
  expect_unary(Unary::softplus, -30, 30, 4, [](double x) { return std::log1p(std::exp(x)); });
}
TEST(SimdMath, MishIsWithinFiveUlps) {
  expect_unary(Unary::mish, -30, 30, 5,
               [](double x) { return x * std::tanh(std::log1p(std::exp(x))); });
}

TEST(SimdMath, SpecialValuesAreIeee) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  KernelSet<float> sets[3];
  for (int s = 0, n = kernel_sets(sets); s < n; ++s) {
    const auto apply = [&](Unary op, float x) {
      std::vector<float> y(37, x);  // both the vector loop and its tail
      sets[s].kernels->unary(op, 0, y.data(), y.data(), 37);
      EXPECT_TRUE(y.front() == y.back() || std::isnan(y.back())) << sets[s].name;
      return y.front();
    };
    SCOPED_TRACE(sets[s].name);
    EXPECT_EQ(apply(Unary::exp, -inf), 0);
    EXPECT_EQ(apply(Unary::exp, inf), inf);
    EXPECT_EQ(apply(Unary::exp, 0), 1);
    EXPECT_EQ(apply(Unary::log, 0), -inf);
    EXPECT_EQ(apply(Unary::log, inf), inf);
    EXPECT_NEAR(apply(Unary::log, 1e-40f), std::log(1e-40f), 1e-4);
    EXPECT_TRUE(std::isnan(apply(Unary::log, -1)));
    EXPECT_EQ(apply(Unary::erf, inf), 1);
    EXPECT_EQ(apply(Unary::tanh, -inf), -1);
    EXPECT_EQ(apply(Unary::sigmoid, inf), 1);
    EXPECT_EQ(apply(Unary::sigmoid, -inf), 0);
    for (Unary op : {Unary::exp, Unary::log, Unary::erf, Unary::tanh, Unary::sigmoid, Unary::gelu,
                     Unary::relu, Unary::leaky_relu, Unary::sqrt}) {
      EXPECT_TRUE(std::isnan(apply(op, nan))) << static_cast<int>(op);
    }
  }
}

/// Every set must give what the portable one gives, for every length up to a few vectors.
TEST(SimdKernels, SetsAgreeAtEveryTailLength) {
  KernelSet<float> sets[3];
  const int count = kernel_sets(sets);
  const auto x = random_array<float>(64 * 71, 3);
  for (int64_t n = 1; n <= 71; ++n) {
    float max[2];
    double exp_sums[2];
    Found<float> found[2], least[2];
    std::vector<float> correlated[2];
    constexpr int64_t kOffsets[] = {0, 71, 3};
    constexpr float kWeights[] = {0.5f, -2, 3};
    double sums[2], column[2][kColumnBlock];
    for (int s = 1; s < count; ++s) {
      for (int side = 0; side < 2; ++side) {
        const Kernels<float>& k = *sets[side * s].kernels;
        exp_sums[side] = k.exp_sum(x.data(), n, &max[side], nullptr);
        found[side] = k.argmax(x.data(), n);
        least[side] = k.argmin(x.data(), n);
        EXPECT_EQ(k.max(x.data(), n), found[side].value);
        EXPECT_EQ(k.min(x.data(), n), least[side].value);
        correlated[side].resize(n + kRunSlack);
        k.correlate(x.data(), kOffsets, kWeights, 3, 0.25f, correlated[side].data(), n);
        sums[side] = k.sum(x.data(), n);
        k.sum_columns(x.data(), n, 64, std::min<int64_t>(n, kColumnBlock), column[side]);
      }
      EXPECT_EQ(max[0], max[1]);
      EXPECT_EQ(found[0].index, found[1].index);
      EXPECT_EQ(least[0].index, least[1].index);
      for (int64_t i = 0; i < n; ++i) EXPECT_NEAR(correlated[0][i], correlated[1][i], 1e-5) << i;
      EXPECT_NEAR(exp_sums[0], exp_sums[1], 1e-6 * exp_sums[0]);
      EXPECT_NEAR(sums[0], sums[1], 1e-6 * static_cast<double>(n));
      for (int64_t c = 0; c < std::min<int64_t>(n, kColumnBlock); ++c) {
        EXPECT_NEAR(column[0][c], column[1][c], 1e-6 * static_cast<double>(n)) << c;
      }
    }
  }
}

}  // namespace
}  // namespace kbench::reference
