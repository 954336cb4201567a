// Which device times the judge's own clock bears out. Pure: runs are numbers.

#include "harness/measure/judge/clock_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace kbench::judge {

namespace {

using ::testing::HasSubstr;

constexpr double kUs = 1e3, kMs = 1e6, kSecond = 1e9;
constexpr double kFlush = 300 * kUs;
constexpr double kHandOver = 400 * kUs;
constexpr int kSamples = 12;

/// A run that says what it takes.
BracketedRun honest(double run_ns, double hand_over_ns = kHandOver) {
  return {kFlush, run_ns, kFlush + run_ns + hand_over_ns};
}

/// What the rule says of the same pair of runs, over and over.
std::string said_of(const BracketedRun& baseline, const BracketedRun& candidate,
                    bool software = false) {
  ClockRule rule(software);
  for (int i = 0; i < kSamples; ++i) rule.add(baseline, candidate);
  return rule.contradiction();
}

TEST(ClockRule, BelievesWhatFitsItsBracket) {
  const ClockRule rule(false);
  for (const double run : {1 * kUs, 1 * kMs, 30 * kMs, 1 * kSecond}) {
    EXPECT_FALSE(rule.contradicts(honest(run))) << run;
    EXPECT_FALSE(rule.contradicts(honest(run, 5 * kMs))) << run;
    EXPECT_EQ(said_of(honest(run), honest(run / 2)), "") << run;
    EXPECT_EQ(said_of(honest(run), honest(3 * run)), "") << run;
  }
}

TEST(ClockRule, ContradictsATimeLongerThanItsBracket) {
  const ClockRule rule(false);
  EXPECT_TRUE(rule.contradicts({kFlush, 2 * kMs, 1 * kMs}));
  EXPECT_TRUE(rule.contradicts({2 * kMs, 1 * kUs, 1 * kMs}));
  // Two clocks may differ in rate, by little.
  EXPECT_FALSE(rule.contradicts({0, 1.0004 * kSecond, 1 * kSecond}));
  EXPECT_TRUE(rule.contradicts({0, 1.02 * kSecond, 1 * kSecond}));
}

TEST(ClockRule, ContradictsATimeThatIsNone) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const bool software : {false, true}) {
    const ClockRule rule(software);
    constexpr double kLargest = std::numeric_limits<double>::max();
    EXPECT_TRUE(rule.contradicts({kLargest, kLargest, 1 * kSecond}));  // their sum overflows
    for (const double bad : {-1.0, -infinity, nan, infinity}) {
      EXPECT_TRUE(rule.contradicts({kFlush, bad, 1 * kSecond})) << bad;
      EXPECT_TRUE(rule.contradicts({bad, 1 * kMs, 1 * kSecond})) << bad;
    }
  }
}

TEST(ClockRule, ContradictsATimeFarShorterThanItsBracket) {
  const ClockRule rule(false);
  EXPECT_TRUE(rule.contradicts({kFlush, 1 * kMs, 100 * kMs}));
  EXPECT_FALSE(rule.contradicts({kFlush, 1 * kMs, 20 * kMs}));  // one interrupt
}

TEST(ClockRule, FindsTimesThatAreForgedByLittleInEverySample) {
  // It takes a millisecond and says half of one; no single sample shows it.
  BracketedRun forged = honest(1 * kMs);
  forged.run_ns = 0.5 * kMs;
  EXPECT_FALSE(ClockRule(false).contradicts(forged));
  EXPECT_THAT(said_of(honest(1 * kMs), forged), HasSubstr("unexplained"));
  // So does a forged long run, though it is a small share of it.
  BracketedRun long_one = honest(100 * kMs);
  long_one.run_ns = 80 * kMs;
  EXPECT_FALSE(ClockRule(false).contradicts(long_one));
  EXPECT_NE(said_of(honest(100 * kMs), long_one), "");
}

TEST(ClockRule, FindsForgedTimesThroughNoise) {
  std::mt19937 random(1);
  std::exponential_distribution<double> noise(1 / (100 * kUs));
  ClockRule rule(false);
  for (int i = 0; i < kSamples; ++i) {
    BracketedRun forged = honest(2 * kMs, kHandOver + noise(random));
    forged.run_ns = 1 * kMs;
    rule.add(honest(2 * kMs, kHandOver + noise(random)), forged);
  }
  EXPECT_NE(rule.contradiction(), "");
}

TEST(ClockRule, IsNotBoughtOffByAFewHonestRuns) {
  BracketedRun forged = honest(2 * kMs);
  forged.run_ns = 1 * kMs;
  ClockRule rule(false);
  for (int i = 0; i < kSamplesToExplain; ++i) {
    rule.add(honest(2 * kMs), i % 3 == 0 ? honest(2 * kMs) : forged);
  }
  EXPECT_NE(rule.contradiction(), "");
}

/// Hand-overs as they were measured on an H200: steps of a seventh of a millisecond, on which a
/// host's processors wake up, and a tail. The median of eight of them is off by a tenth of one.
class MeasuredHandOvers {
 public:
  explicit MeasuredHandOvers(unsigned seed) : random_(seed) {}
  double operator()() {
    return 310 * kUs + steps_(random_) * 140 * kUs + std::abs(spread_(random_)) + tail_(random_);
  }

 private:
  std::mt19937 random_;
  std::discrete_distribution<int> steps_{50, 30, 15, 5};
  std::normal_distribution<double> spread_{0, 40 * kUs};
  std::exponential_distribution<double> tail_{1 / (30 * kUs)};
};

/// As a trial takes them: eight, and up to 32 while the times are suspicious.
std::string said_in_a_trial(MeasuredHandOvers& hand_over, double takes_ns, double says_ns,
                            bool* suspected = nullptr) {
  ClockRule rule(false);
  for (int i = 0; i < 8 || (i < kSamplesToExplain && !rule.suspicion().empty()); ++i) {
    BracketedRun candidate = honest(takes_ns, hand_over());
    candidate.run_ns = says_ns;
    rule.add(honest(takes_ns, hand_over()), candidate);
    if (i == 7 && suspected != nullptr) *suspected = !rule.suspicion().empty();
  }
  return rule.contradiction();
}

TEST(ClockRule, DisbelievesNoHonestTimesByChance) {
  MeasuredHandOvers hand_over(1);
  int suspected = 0, disbelieved = 0;
  constexpr int kTrials = 20000;
  for (int trial = 0; trial < kTrials; ++trial) {
    bool at_eight = false;
    disbelieved += said_in_a_trial(hand_over, 20 * kUs, 20 * kUs, &at_eight).empty() ? 0 : 1;
    suspected += at_eight ? 1 : 0;
  }
  EXPECT_GT(suspected, kTrials / 1000);  // Medians of eight alone would be wrong so often.
  EXPECT_EQ(disbelieved, 0);
}

TEST(ClockRule, FindsForgedTimesThroughMeasuredNoise) {
  MeasuredHandOvers hand_over(2);
  for (int trial = 0; trial < 1000; ++trial) {
    EXPECT_NE(said_in_a_trial(hand_over, 1 * kMs, 0.5 * kMs), "") << trial;
  }
}

TEST(ClockRule, ToleratesNoise) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::exponential_distribution<double> noise(1 / (50 * kUs));
    std::bernoulli_distribution interrupt(0.1);
    const auto hand_over = [&] {
      return kHandOver + noise(random) + (interrupt(random) ? 10 * kMs : 0);
    };
    ClockRule rule(false);
    for (int i = 0; i < kSamples; ++i) {
      const BracketedRun ours = honest(3 * kUs, hand_over()), theirs = honest(3 * kUs, hand_over());
      EXPECT_FALSE(rule.contradicts(ours));
      EXPECT_FALSE(rule.contradicts(theirs));
      rule.add(ours, theirs);
    }
    EXPECT_EQ(rule.contradiction(), "") << seed;
  }
}

TEST(ClockRule, FindsARunThatHidesInTheFlush) {
  // Half of its work is done before the timestamp that is said to end the flush.
  BracketedRun hidden = honest(2 * kMs);
  hidden.flush_ns += 1 * kMs;
  hidden.run_ns -= 1 * kMs;
  EXPECT_THAT(said_of(honest(2 * kMs), hidden), HasSubstr("caches cold"));
  // Caches that were never made cold.
  EXPECT_THAT(said_of(honest(2 * kMs), {1 * kUs, 2 * kMs, 2 * kMs + kHandOver}),
              HasSubstr("caches cold"));
  BracketedRun slower = honest(2 * kMs);
  slower.flush_ns += 30 * kUs;
  slower.bracket_ns += 30 * kUs;
  EXPECT_EQ(said_of(honest(2 * kMs), slower), "");
  // A task of a hundred microseconds has nowhere to hide.
  slower.flush_ns += 30 * kUs;
  slower.bracket_ns += 30 * kUs;
  EXPECT_THAT(said_of(honest(2 * kMs), slower), HasSubstr("caches cold"));
}

TEST(ClockRule, GivesSoftwareDevicesMoreRoomAndNotAll) {
  // What a loaded processor does to a run of two milliseconds.
  const BracketedRun loaded = honest(2 * kMs, 200 * kMs);
  EXPECT_FALSE(ClockRule(true).contradicts(loaded));
  EXPECT_TRUE(ClockRule(false).contradicts(loaded));
  EXPECT_EQ(said_of(honest(2 * kMs), honest(2 * kMs, 10 * kMs), true), "");
  EXPECT_NE(said_of(honest(2 * kMs), honest(2 * kMs, 10 * kMs), false), "");
  BracketedRun forged = honest(1 * kSecond);
  forged.run_ns = 0.3 * kSecond;
  EXPECT_NE(said_of(honest(1 * kSecond), forged, true), "");
  EXPECT_TRUE(ClockRule(true).contradicts({kFlush, 2 * kSecond, 1 * kSecond}));
}

/// The same of a candidate whose lane was tried first.
std::string said_with_lane(const BracketedRun& baseline, const BracketedRun& candidate,
                           double lane_ns) {
  ClockRule rule(false);
  rule.set_lane(std::vector<BracketedRun>(20, BracketedRun{kFlush, 0, kFlush + lane_ns}));
  for (int i = 0; i < kSamples; ++i) rule.add(baseline, candidate);
  return rule.contradiction();
}

TEST(ClockRule, AllowsALaneWhatItTookForNothing) {
  const BracketedRun ours = honest(1 * kMs), theirs = honest(1 * kMs, kHandOver + 400 * kUs);
  EXPECT_THAT(said_of(ours, theirs), HasSubstr("unexplained"));
  EXPECT_EQ(said_with_lane(ours, theirs, kHandOver + 400 * kUs), "");
  // A lane that hands over faster than the baseline is no less believed.
  EXPECT_EQ(said_with_lane(ours, honest(1 * kMs), kHandOver / 2), "");
}

TEST(ClockRule, BelievesALaneUpToAMillisecondBeyondTheBaseline) {
  const BracketedRun ours = honest(5 * kMs);
  BracketedRun forged = honest(5 * kMs, kHandOver + 400 * kUs);
  forged.run_ns -= 0.5 * kMs;  // of what the lane takes and 0.5 ms more
  EXPECT_THAT(said_with_lane(ours, forged, kHandOver + 400 * kUs), HasSubstr("unexplained"));
  // A lane that took a second for nothing hides a millisecond, and the room that all have.
  EXPECT_EQ(said_with_lane(ours, forged, 1 * kSecond), "");
  forged.run_ns -= 1 * kMs;
  EXPECT_THAT(said_with_lane(ours, forged, 1 * kSecond), HasSubstr("unexplained"));
}

TEST(ClockRule, SaysNothingWithoutSamples) { EXPECT_EQ(ClockRule(false).contradiction(), ""); }

const Roofline kDevice = {4e12, 60e12};  // 4 TB/s, 60 TFLOP/s

TEST(SpeedLimit, IsAQuarterAboveTheCopysRateBeyondWhatCachesHold) {
  const LeastWork work = {8e9, 2e9, 0};
  EXPECT_DOUBLE_EQ(speed_limit(work, kDevice, DType::f32, 0).least_ms(), 1e3 * 10e9 / 5e12);
  EXPECT_DOUBLE_EQ(speed_limit(work, kDevice, DType::f32, 5'000'000'000).least_ms(), 1.0);
  EXPECT_EQ(speed_limit(work, kDevice, DType::f32, 20'000'000'000).least_ms(), 0);
}

TEST(SpeedLimit, OfProductsIsThatOfMatrixUnits) {
  const LeastWork work = {1e6, 1e6, 96e12};
  EXPECT_DOUBLE_EQ(speed_limit(work, kDevice, DType::f32, 0).least_ms(), 100);
  EXPECT_DOUBLE_EQ(speed_limit(work, kDevice, DType::f16, 0).least_ms(), 50);
}

TEST(SpeedLimit, IsZeroWhereTheDeviceWasNotMeasured) {
  EXPECT_EQ(speed_limit({8e9, 2e9, 1e12}, {}, DType::f32, 0).least_ms(), 0);
}

TEST(SpeedLimit, WhatIsBelowItIsImpossibleAndTheNumbersAreSaid) {
  const LeastWork work = {8e9, 2e9, 0};
  const SpeedLimit limit = speed_limit(work, kDevice, DType::f32, 0);
  EXPECT_FALSE(too_fast(2.0, work, limit));
  EXPECT_FALSE(too_fast(2.1, work, limit));
  const auto why = too_fast(1.5, work, limit);
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, HasSubstr("took at most 1.5 ms; 10 GB that it has to read and write take this "
                              "device 2 ms"));
  const LeastWork product = {1e6, 1e6, 96e12};
  EXPECT_THAT(*too_fast(9, product, speed_limit(product, kDevice, DType::f32, 0)),
              HasSubstr("96000 GFLOP that it has to compute take this device 100 ms"));
}

}  // namespace

}  // namespace kbench::judge
