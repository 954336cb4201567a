#include "kbench/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/scoring/example_result.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using testing::kInf;

/// The interval of the values 1 to n: its ends are the ranks themselves.
Interval ranks_of(int n) {
  std::vector<double> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  std::ranges::reverse(values);
  return median_interval(values);
}

TEST(MedianInterval, HasTheTabulatedRanks) {
  struct Row {
    int n, low, high;
  };
  for (const Row& row : {Row{6, 1, 6},
                         {7, 1, 7},
                         {8, 1, 8},
                         {9, 2, 8},
                         {10, 2, 9},
                         {15, 4, 12},
                         {20, 6, 15},
                         {25, 8, 18},
                         {50, 18, 33},
                         {100, 40, 61}}) {
    const Interval interval = ranks_of(row.n);
    EXPECT_EQ(interval.low, row.low) << row.n;
    EXPECT_EQ(interval.high, row.high) << row.n;
    EXPECT_EQ(interval.point, (row.n + 1) / 2.0) << row.n;
  }
}

TEST(MedianInterval, IsUnboundedBelowSixValues) {
  for (int n = 1; n < 6; ++n) {
    const Interval interval = ranks_of(n);
    EXPECT_EQ(interval.low, 0);
    EXPECT_EQ(interval.high, kInf);
    EXPECT_EQ(interval.point, (n + 1) / 2.0);
  }
}

TEST(MedianInterval, AgreesWithExactSumsOfBinomials) {
  for (int n = 6; n <= 1000; n += 7) {
    // P(X < k) by long double logarithms, independent of the library's recurrence.
    long double below = 0;
    int rank = 0;
    for (int i = 0; i < n; ++i) {
      below += std::exp(std::lgamma(n + 1.0L) - std::lgamma(i + 1.0L) - std::lgamma(n - i + 1.0L) -
                        n * std::log(2.0L));
      if (below > 0.025L) break;
      rank = i + 1;
    }
    EXPECT_EQ(ranks_of(n).low, rank) << n;
    EXPECT_EQ(ranks_of(n).high, n + 1 - rank) << n;
  }
}

TEST(MedianInterval, FollowsTheNormalApproximationForManyValues) {
  for (int n : {10000, 99999, 100000}) {
    const double expected = n / 2.0 - 1.959964 * std::sqrt(n) / 2;
    EXPECT_NEAR(ranks_of(n).low, expected, 1.5) << n;
    EXPECT_EQ(ranks_of(n).low + ranks_of(n).high, n + 1) << n;
  }
}

TEST(MedianInterval, CoversTheMedianAtLeast95PercentOfTheTime) {
  std::mt19937_64 generator(20250101);
  std::lognormal_distribution<double> ratios(0.3, 0.5);  // skewed, as ratios of times are
  const double truth = std::exp(0.3);
  constexpr int kTrials = 20000;
  for (int n : {6, 10, 33}) {
    int covered = 0;
    std::vector<double> values(static_cast<size_t>(n));
    for (int trial = 0; trial < kTrials; ++trial) {
      for (double& value : values) value = ratios(generator);
      const Interval interval = median_interval(values);
      covered += interval.low <= truth && truth <= interval.high;
    }
    // Three standard deviations of the count below 95%.
    EXPECT_GE(covered, kTrials * 0.95 - 3 * std::sqrt(kTrials * 0.95 * 0.05)) << n;
  }
}

TEST(MedianInterval, TakesInfinitiesAndRefusesNanAndNothing) {
  EXPECT_EQ(median_interval({1, 2, kInf, kInf, kInf, kInf}).point, kInf);
  EXPECT_THROW(median_interval({}), Error);
  EXPECT_THROW(median_interval({1, std::nan("")}), Error);
}

TEST(Median, TakesTheMiddle) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

Result scored_result(int number, double speedup, double low, bool correct = true) {
  Result result;
  result.set = "s";
  result.task = {1, number};
  result.verdict = correct ? Verdict::passed : Verdict::wrong_values;
  result.speedup = {low, speedup, speedup * 1.1};
  return result;
}

/// Baseline and candidate seconds and correctness, with known scores.
std::vector<Result> known_results() {
  const double baseline[] = {.1, .15, .2, .05, .3};
  const double actual[] = {.2, .15, .3, .01, .2};
  const bool correct[] = {true, false, true, true, false};
  std::vector<Result> results;
  for (int i = 0; i < 5; ++i) {
    const double speedup = baseline[i] / actual[i];
    results.push_back(scored_result(i + 1, speedup, speedup * 0.99, correct[i]));
  }
  return results;
}

TEST(FastP, MatchesKnownValuesStrictly) {
  const auto results = known_results();
  EXPECT_DOUBLE_EQ(fast_p(results, 1, 5).point(), 0.2);
  EXPECT_DOUBLE_EQ(fast_p(results, 0.5, 5).point(), 0.4) << "0.5 is not above 0.5";
  EXPECT_DOUBLE_EQ(fast_p(results, 0, 5).point(), 0.6);
  EXPECT_EQ(fast_p(results, 0.65, 5).at_low, 2);
  EXPECT_EQ(fast_p(results, 0.665, 5).at_point, 2);
  EXPECT_EQ(fast_p(results, 0.665, 5).at_low, 1);
  EXPECT_DOUBLE_EQ(fast_p(results, 1, 10).point(), 0.1) << "tasks without a result count";
  EXPECT_EQ(fast_p({}, 1, 0).point(), 0);
}

TEST(FastP, IsOfOnePreset) {
  std::vector<Result> results = {scored_result(1, 3, 2.9), scored_result(2, 3, 2.9)};
  results[0].preset = "smoke";
  EXPECT_EQ(fast_p(results, 1, 2).at_point, 2) << "one could not be read";
  results[1].preset = "v0.1";
  EXPECT_THAT(error_of([&] { fast_p(results, 1, 2); }).what(),
              HasSubstr("results are of 2 presets: smoke (1), v0.1 (1)"));
}

TEST(FastP, CountsATaskOnceByItsLastResult) {
  const std::vector<Result> results = {scored_result(1, 3, 2.9), scored_result(1, 0.5, 0.4),
                                       scored_result(2, 0.5, 0.4), scored_result(2, 3, 2.9)};
  EXPECT_EQ(fast_p(results, 1, 2).at_point, 1);
}

TEST(FastP, AtZeroCountsCorrectTasksWhateverTheInterval) {
  const std::vector<Result> few_samples = {scored_result(1, 1.2, 0)};
  EXPECT_EQ(fast_p(few_samples, 0, 1).at_low, 1);
  EXPECT_EQ(fast_p(few_samples, 0.5, 1).at_low, 0);
}

TEST(GeometricMean, MatchesKnownValues) {
  std::vector<double> speedups;
  for (const Result& result : known_results()) {
    if (result.correct()) speedups.push_back(result.speedup.point);
  }
  EXPECT_NEAR(geometric_mean(speedups), 1.185631101, 1e-9);
  EXPECT_EQ(geometric_mean({}), 0);
  const double with_zero[] = {1, 0};
  EXPECT_EQ(geometric_mean(with_zero), 0);
  const double with_nan[] = {1, std::nan("")};
  EXPECT_EQ(geometric_mean(with_nan), 0);
}

TEST(GeometricMean, OfIntervalsIsNarrowerThanEach) {
  const std::vector<Interval> two = {{1, 2, 4}, {4, 8, 16}};
  const Interval mean = geometric_mean_interval(two);
  EXPECT_NEAR(mean.point, 4, 1e-12);
  EXPECT_NEAR(mean.low, 4 / std::exp2(std::sqrt(2.0) / 2), 1e-12);
  EXPECT_NEAR(mean.high, 4 * std::exp2(std::sqrt(2.0) / 2), 1e-12);
  const std::vector<Interval> one = {{1, 2, 8}};
  EXPECT_NEAR(geometric_mean_interval(one).high, 8, 1e-12);
  EXPECT_EQ(geometric_mean_interval(std::vector<Interval>()).point, 0);
}

TEST(IntervalRatio, AddsDistancesInLogarithmsAsSquares) {
  const Interval exact = ratio_of({3, 3, 3}, {2, 2, 2});
  EXPECT_DOUBLE_EQ(exact.point, 1.5);
  EXPECT_DOUBLE_EQ(exact.low, 1.5);
  EXPECT_DOUBLE_EQ(exact.high, 1.5);
  // Each bound stems from the bounds that push in its direction.
  const Interval one = ratio_of({1, 2, 8}, {1, 1, 1});
  EXPECT_NEAR(one.low, 1, 1e-12);
  EXPECT_NEAR(one.high, 8, 1e-12);
  const Interval other = ratio_of({1, 1, 1}, {1, 2, 8});
  EXPECT_NEAR(other.low, 1.0 / 8, 1e-12);
  EXPECT_NEAR(other.high, 1, 1e-12);
  const Interval both = ratio_of({std::exp(-3), 1, std::exp(3)}, {std::exp(-4), 1, std::exp(4)});
  EXPECT_NEAR(std::log(both.low), -5, 1e-12);
  EXPECT_NEAR(std::log(both.high), 5, 1e-12);
}

/// Of 2,000 pairs of measurements the interval holds the truth as often as it promises.
TEST(IntervalRatio, HoldsTheTruthAsOftenAsItsParts) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> noise(0, 0.2);
  const auto measured = [&](double truth) {
    std::vector<double> ratios(31);
    for (double& ratio : ratios) ratio = truth * noise(random);
    return median_interval(ratios);
  };
  int held = 0;
  for (int i = 0; i < 2000; ++i) {
    const Interval ratio = ratio_of(measured(3), measured(2));
    held += ratio.low <= 1.5 && 1.5 <= ratio.high ? 1 : 0;
  }
  EXPECT_GE(held, 1880);
}

}  // namespace
}  // namespace kbench
