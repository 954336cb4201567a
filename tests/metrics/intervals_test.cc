#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kbench/error.h"
#include "kbench/metrics.h"

namespace kbench {
namespace {

TEST(Wilson, MatchesTheVectors) {
  EXPECT_EQ(wilson(0, 10).low, 0);
  EXPECT_NEAR(wilson(0, 10).high, 0.277533, 1e-6);
  EXPECT_NEAR(wilson(3, 10).low, 0.107791, 1e-6);
  EXPECT_NEAR(wilson(3, 10).high, 0.603222, 1e-6);
  EXPECT_NEAR(wilson(24, 24).low, 0.862024, 1e-6);
  EXPECT_EQ(wilson(24, 24).high, 1);
  EXPECT_THROW(wilson(0, 0), Error);
}

TEST(McNemar, MatchesTheVectors) {
  EXPECT_NEAR(mcnemar_exact(7, 1), 0.0703125, 1e-9);
  EXPECT_NEAR(mcnemar_exact(10, 2), 0.0385742, 1e-7);
  EXPECT_EQ(mcnemar_exact(5, 5), 1);
  EXPECT_EQ(mcnemar_exact(0, 0), 1);
  EXPECT_NEAR(mcnemar_exact(2, 10), mcnemar_exact(10, 2), 1e-15);
}

TEST(Bootstrap, OfThreeTasksIsTheExactOneUpToItsNoise) {
  // All 27 resamples: percentiles 0 and 0.75. Resamples of the twelve samples would be closer.
  const std::vector<int> one_level = {1, 1, 1};
  const std::vector<double> means = {0.5, 0, 0.75};
  const Interval spread = Bootstrap(one_level).mean(means);
  EXPECT_NEAR(spread.point, 0.4166667, 1e-7);
  EXPECT_EQ(spread.low, 0);
  EXPECT_EQ(spread.high, 0.75);
}

TEST(Bootstrap, DrawsTasksWithinTheirLevel) {
  // Levels that differ, without variation inside: an unstratified bootstrap would spread.
  const std::vector<int> levels = {1, 1, 2, 2, 2};
  const Interval spread = Bootstrap(levels).mean(std::vector<double>{1, 1, 0, 0, 0});
  EXPECT_DOUBLE_EQ(spread.low, 0.4);
  EXPECT_DOUBLE_EQ(spread.high, 0.4);
}

TEST(Bootstrap, IsTheSameEachTimeAndAnotherWithAnotherSeed) {
  const std::vector<int> levels(50, 1);
  std::vector<double> values;
  for (int i = 0; i < 50; ++i) values.push_back(std::sin(i));
  const Interval first = Bootstrap(levels).mean(values);
  const Interval again = Bootstrap(levels).mean(values);
  const Interval other = Bootstrap(levels, Bootstrap::kResamples, 2).mean(values);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_NE(first.low, other.low);
}

TEST(Bootstrap, ComesCloseToTheNormalIntervalOfManyTasks) {
  const std::vector<int> levels(400, 1);
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(i % 5 == 0);
  const Interval spread = Bootstrap(levels).mean(values);
  const double error = std::sqrt(0.2 * 0.8 / 400);
  EXPECT_NEAR(spread.low, 0.2 - 1.96 * error, 0.1 * error);
  EXPECT_NEAR(spread.high, 0.2 + 1.96 * error, 0.1 * error);
}

TEST(Bootstrap, OfARatioWeighsTasksByTheirDenominators) {
  const std::vector<int> levels = {1, 1};
  const Interval spread =
      Bootstrap(levels).ratio(std::vector<double>{1, 0}, std::vector<double>{1, 3});
  EXPECT_DOUBLE_EQ(spread.point, 0.25);
  EXPECT_EQ(spread.low, 0);
  EXPECT_EQ(spread.high, 1);
}

TEST(Bootstrap, RefusesWhatMakesNoSense) {
  const std::vector<int> none, two = {1, 1};
  EXPECT_THROW(Bootstrap(none).tasks(), Error);
  EXPECT_THROW(Bootstrap(two).mean(std::vector<double>{1}), Error);
}

}  // namespace
}  // namespace kbench
