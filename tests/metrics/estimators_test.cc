#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kbench/error.h"
#include "kbench/metrics.h"

namespace kbench {
namespace {

TEST(PassAtK, MatchesTheVectors) {
  const struct {
    int n, c, k;
    double value;
  } vectors[] = {{5, 0, 1, 0},      {5, 5, 1, 1},
                 {10, 3, 1, 0.3},   {10, 3, 5, 0.9166666667},
                 {4, 1, 2, 0.5},    {4, 2, 2, 0.8333333333},
                 {4, 3, 2, 1},      {20, 4, 10, 0.9566563467},
                 {20, 1, 19, 0.95}, {200, 41, 10, 0.9050411820}};
  for (const auto& v : vectors) {
    const std::optional<Share> share = pass_at_k({.n = v.n, .c = v.c}, v.k);
    ASSERT_TRUE(share);
    EXPECT_NEAR(share->low, v.value, 1e-10) << v.n << ' ' << v.c << ' ' << v.k;
    EXPECT_TRUE(share->exact());
  }
}

TEST(PassAtK, IsUndefinedWhereThereAreFewerSamplesAndNeverClamped) {
  EXPECT_FALSE(pass_at_k({.n = 3, .c = 1}, 5));
  EXPECT_FALSE(pass_hat_k({.n = 3, .c = 1}, 5));
  EXPECT_TRUE(pass_at_k({.n = 3, .c = 1, .lost = 2}, 5));
}

TEST(PassAtK, IsTheShareOfSubsetsThatHoldAGoodSample) {
  // All subsets of size k of n samples, of which the first c are good, counted.
  for (int n = 1; n <= 9; ++n) {
    for (int c = 0; c <= n; ++c) {
      for (int k = 1; k <= n; ++k) {
        int any = 0, all = 0, subsets = 0;
        for (int mask = 0; mask < 1 << n; ++mask) {
          if (__builtin_popcount(static_cast<unsigned>(mask)) != k) continue;
          ++subsets;
          any += (mask & ((1 << c) - 1)) != 0;
          all += (mask & ((1 << c) - 1)) == mask;
        }
        EXPECT_NEAR(pass_at_k({.n = n, .c = c}, k)->low, double(any) / subsets, 1e-12);
        EXPECT_NEAR(pass_hat_k({.n = n, .c = c}, k)->low, double(all) / subsets, 1e-12);
      }
    }
  }
}

TEST(PassAtK, BoundsWhatLostSamplesMayHaveBeen) {
  const std::optional<Share> share = pass_at_k({.n = 5, .c = 2, .lost = 5}, 5);
  ASSERT_TRUE(share);
  EXPECT_NEAR(share->low, 0.7777778, 1e-7);
  EXPECT_EQ(share->high, 1);
  EXPECT_FALSE(share->exact());
  const std::optional<Share> nothing = pass_at_k({.n = 0, .c = 0, .lost = 3}, 1);
  EXPECT_EQ(nothing->low, 0);
  EXPECT_EQ(nothing->high, 1);
}

TEST(PassHatK, MatchesTheVector) {
  EXPECT_NEAR(pass_hat_k({.n = 10, .c = 3}, 2)->low, 0.0666666667, 1e-10);
}

TEST(PassAtK, RefusesWhatMakesNoSense) {
  EXPECT_THROW(pass_at_k(Draws{.n = 3, .c = 4}, 1), Error);
  EXPECT_THROW(pass_at_k(Draws{.n = 3, .c = 1}, 0), Error);
  EXPECT_THROW(pass_hat_k(Draws{.n = 3, .c = 1, .lost = -1}, 1), Error);
}

TEST(ExpectedBest, MatchesTheVectors) {
  const std::vector<double> values = {0, 0, 0.8, 1.5};
  const double best[] = {0.575, 1.0166666667, 1.325, 1.5};
  std::vector<double> logarithms = {0, 0, std::log(1.2), std::log(1.5)};
  const double geometric[] = {1.1582921853, 1.3014856326, 1.4186124135, 1.5};
  for (int k = 1; k <= 4; ++k) {
    EXPECT_NEAR(*expected_best(values, k), best[k - 1], 1e-10);
    EXPECT_NEAR(std::exp(*expected_best(logarithms, k)), geometric[k - 1], 1e-10);
  }
  EXPECT_FALSE(expected_best(values, 5));
}

TEST(ExpectedBest, StaysFiniteForManySamples) {
  std::vector<double> values(20000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = double(i + 1);
  // The expected maximum of k out of 1..n is k (n+1) / (k+1).
  EXPECT_NEAR(*expected_best(values, 10), 10.0 * 20001 / 11, 1e-6);
  EXPECT_NEAR(*expected_best(values, 19999), 19999.0 * 20001 / 20000, 1e-6);
}

}  // namespace
}  // namespace kbench
