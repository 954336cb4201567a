#include "harness/measure/trial/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

namespace kbench::trial {

namespace {

SamplingPlan plan_of(double precision, double seconds, int least, int most) {
  SamplingPlan plan;
  plan.precision = precision;
  plan.max_seconds = seconds;
  plan.min_samples = least;
  plan.max_samples = most;
  return plan;
}

TEST(Sampling, StopsWhenTheIntervalIsNarrow) {
  Sampling sampling(plan_of(0.01, 100, 20, 1000));
  for (int i = 0; i < 19; ++i) {
    sampling.add({2000, 1000, 5000});
    EXPECT_FALSE(sampling.done(0)) << i;  // Never before min_samples.
  }
  sampling.add({2000, 1000, 5000});
  EXPECT_TRUE(sampling.done(0));
  EXPECT_DOUBLE_EQ(sampling.speedup().point, 2);
}

TEST(Sampling, TakesEightPairsAtLeastUnlessTheBudgetIsSpent) {
  Sampling sampling(plan_of(0.01, 1, 2, 1000));
  for (int i = 0; i < 14; ++i) {
    sampling.add({i < 2 ? 2100.0 : 2000.0, 1000, 5000});
    EXPECT_FALSE(sampling.done(0)) << i;
  }
  for (int i = 0; i < 4; ++i) sampling.add({2000, 1000, 5000});
  EXPECT_TRUE(sampling.done(0));

  Sampling slow(plan_of(0.01, 1, 2, 1000));
  for (int i = 0; i < 2; ++i) slow.add({2e9, 1e9, 4e9});
  EXPECT_TRUE(slow.done(0));
}

TEST(Sampling, EndsAtEightSamplesThatAllLieWithinThePrecision) {
  Sampling sampling(plan_of(0.01, 1, 8, 1000));
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(sampling.done(0)) << i;
    sampling.add({2000.0 + (i == 3 ? 8 : 0) - (i == 6 ? 10 : 0), 1000, 5000});
  }
  EXPECT_TRUE(sampling.done(0));
  // The interval is that of the single samples, wider than the pairs'.
  const double room = 1 + placement_share(1000);
  EXPECT_DOUBLE_EQ(sampling.speedup().low, 1.990 / room);
  EXPECT_DOUBLE_EQ(sampling.speedup().high, 2.008 * room);
}

TEST(Sampling, RunsThatSomethingElseLengthenedCostAFewSamplesMore) {
  for (const int lengthened : {1, 2, 3}) {
    Sampling sampling(plan_of(0.01, 100, 8, 1000));
    int count = 0;
    while (!sampling.done(0)) {
      sampling.add({2e6, count < lengthened ? 1.5e6 : 1e6 + 1e3 * (count % 3), 1});
      ++count;
    }
    EXPECT_EQ(count, lengthened == 1 ? 12 : lengthened == 2 ? 16 : 24);
    EXPECT_GT(sampling.speedup().low, 1.98);
    EXPECT_LT(sampling.speedup().high, 2.02);
  }
}

TEST(Sampling, FromEightSamplesOnThereIsAnInterval) {
  Sampling sampling(plan_of(1e-9, 100, 8, 1000));
  for (int i = 0; i < 40; ++i) {
    sampling.add({2e6, 1e6 + 1e4 * (i % 5), 1});
    if (i + 1 < 8 || i % 2 == 0) continue;
    EXPECT_GT(sampling.speedup().low, 1.8) << i;
    EXPECT_LT(sampling.speedup().high, 2.1) << i;
  }
}

/// The number of samples after which a candidate of these times is done.
int samples_of(const SamplingPlan& plan, double baseline_ns, double candidate_ns,
               double jitter = 0.001) {
  Sampling sampling(plan);
  while (!sampling.done(0)) {
    sampling.add({baseline_ns, candidate_ns * (1 + jitter * (sampling.count() % 3)), 1});
  }
  return sampling.count();
}

TEST(Sampling, OfASlowCandidateEndsEarly) {
  const SamplingPlan plan = plan_of(0.01, 100, 8, 1000);
  EXPECT_EQ(samples_of(plan, 1e6, 5e6), 4);
  EXPECT_EQ(samples_of(plan, 1e6, 5e6, 0.01), 4);
  EXPECT_EQ(samples_of(plan, 1e6, 5e6, 0.03), 6);
  EXPECT_EQ(samples_of(plan, 1e6, 1.9e6), 8);
  // Half of min_samples is the least.
  EXPECT_EQ(samples_of(plan_of(0.01, 100, 16, 1000), 1e6, 5e6), 8);
}

TEST(Sampling, OfASlowCandidateGoesOnAtAThreshold) {
  SamplingPlan plan = plan_of(0.01, 100, 8, 1000);
  plan.thresholds = {0.2, 1};
  EXPECT_EQ(samples_of(plan, 1e6, 5e6 * (1 - 0.001)),
            8);  // the first look that takes any candidate
  EXPECT_EQ(samples_of(plan, 1e6, 6e6), 4);
}

/// Of many trials of a slow candidate, the share whose interval misses its median.
template <class Noise>
double share_missed(Noise noise) {
  constexpr int kTrials = 20000;
  std::mt19937 random(27);
  int missed = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Sampling sampling(plan_of(0.01, 1e-4, 8, 1000));
    constexpr double kSpeedup = 0.25, kRun = 1e9;  // so long that placement adds little
    while (!sampling.done(0)) {
      sampling.add({kRun * std::exp(noise(random)), kRun / kSpeedup * std::exp(noise(random)), 1});
    }
    const Interval found = sampling.speedup();
    missed += found.low > kSpeedup || found.high < kSpeedup;
  }
  return static_cast<double>(missed) / kTrials;
}

TEST(Sampling, OfSlowCandidatesMissesTheirMedianOnceInForty) {
  constexpr double kNominal = 0.025;  // half of what 95% leaves
  EXPECT_LT(share_missed(std::normal_distribution(0.0, 0.01)), kNominal);
  EXPECT_LT(share_missed(std::normal_distribution(0.0, 0.05)), kNominal);
  EXPECT_LT(share_missed(std::uniform_real_distribution(-0.02, 0.02)), kNominal);
  // Right tails, as device times have.
  EXPECT_LT(share_missed([exponential = std::exponential_distribution(50.0)](auto& random) mutable {
              return exponential(random);
            }),
            kNominal);
  // One run in ten is half as long again: something else ran beside it.
  EXPECT_LT(share_missed([normal = std::normal_distribution(0.0, 0.01),
                          share = std::uniform_real_distribution(0.0, 1.0)](auto& random) mutable {
              return normal(random) + (share(random) < 0.1 ? 0.4 : 0);
            }),
            kNominal);
}

TEST(Sampling, WhatGoingSecondCostsIsInTheFirstLook) {
  Sampling sampling(plan_of(0.01, 100, 8, 1000));
  for (int i = 0; i < 8; ++i) {
    sampling.add(i % 2 ? PairedTimes{1030, 1000, 1} : PairedTimes{1000, 1030, 1});
  }
  EXPECT_FALSE(sampling.done(0));
}

TEST(Sampling, GoesOnWhileTheIntervalIsWide) {
  Sampling sampling(plan_of(0.01, 100, 10, 1000));
  for (int i = 0; i < 50; ++i) sampling.add({1000.0 + 20 * (i % 5), 1000, 5000});
  EXPECT_FALSE(sampling.done(0));
  EXPECT_GT(sampling.speedup().high, sampling.speedup().low);
}

TEST(Sampling, WhatGoingSecondCostsCancels) {
  Sampling sampling(plan_of(0.01, 100, 12, 1000));
  for (int i = 0; i < 16; ++i) {
    const double penalty = 1.3;
    sampling.add(i % 2 ? PairedTimes{1000 * penalty, 1000, 1}
                       : PairedTimes{1000, 1000 * penalty, 1});
  }
  EXPECT_TRUE(sampling.done(0));
  const double room = 1 + placement_share(1150);
  EXPECT_DOUBLE_EQ(sampling.speedup().low, 1 / room);
  EXPECT_DOUBLE_EQ(sampling.speedup().high, room);
}

TEST(Sampling, StopsWhenTheBudgetOfDeviceTimeIsSpent) {
  Sampling sampling(plan_of(0.0001, 1.0, 6, 1000));
  int count = 0;
  while (!sampling.done(0)) {
    ++count;
    sampling.add({1e6 * (1 + count % 3), 1e6, 0.125e9});
  }
  EXPECT_EQ(count, 8);
}

TEST(Sampling, BoundsWallTimeToo) {
  Sampling sampling(plan_of(0.0001, 1.0, 6, 1000));
  for (int i = 0; i < 8; ++i) sampling.add({1e6 * (1 + i % 3), 1e6, 1e6});
  EXPECT_FALSE(sampling.done(1.4));
  EXPECT_TRUE(sampling.done(1.5));
}

TEST(Sampling, StopsAtMaxSamples) {
  Sampling sampling(plan_of(0, 100, 2, 20));
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(sampling.done(0));
    sampling.add({1e6 * (1 + i % 3), 1e6, 1});
  }
  EXPECT_TRUE(sampling.done(0));
}

TEST(Sampling, TheSpeedupIsOfPairsNotOfMedians) {
  // Clocks that fall by half in the middle leave every pair's ratio as it was.
  Sampling sampling(plan_of(0.01, 100, 10, 1000));
  for (int i = 0; i < 20; ++i) {
    const double clock = i < 10 ? 1 : 2;
    sampling.add({1500 * clock, 1000 * clock, 1});
  }
  const double room = 1 + placement_share(1500);
  EXPECT_DOUBLE_EQ(sampling.speedup().low, 1.5 / room);
  EXPECT_DOUBLE_EQ(sampling.speedup().high, 1.5 * room);
}

TEST(Sampling, PlacementShareIsLargeForShortRuns) {
  EXPECT_NEAR(placement_share(4e3), 0.052, 1e-12);
  EXPECT_NEAR(placement_share(4e3, DType::f16), 0.06, 1e-12);
  EXPECT_NEAR(placement_share(1e6), 0.0022, 1e-12);
  EXPECT_NEAR(placement_share(1), 1.002, 1e-12);  // a run that no clock sees
}

TEST(Sampling, ProcessesThatAreTimedFromOutsideDifferByMore) {
  EXPECT_NEAR(process_share(1e6, 10), 0.016, 1e-12);
  Sampling sampling(plan_of(0.01, 100, 2, 1000), std::nullopt, /*calls=*/10);
  for (int i = 0; i < 20; ++i) sampling.add({1e6, 1e6, 1});
  EXPECT_DOUBLE_EQ(sampling.speedup().low, 1 / 1.016);
  EXPECT_DOUBLE_EQ(sampling.speedup().high, 1.016);
}

TEST(Sampling, TimedFromOutsideStopsAtWhatProcessesDifferBy) {
  // A run of ten calls takes two milliseconds, so that processes differ by 4%.
  for (const double spread : {0.03, 0.05}) {
    Sampling outside(plan_of(0.01, 100, 8, 1000), std::nullopt, /*calls=*/10);
    Sampling device(plan_of(0.01, 100, 8, 1000));
    for (int i = 0; i < 8; ++i) {
      const double off = i % 4 < 2 ? spread : -spread;  // The same in both of a pair.
      for (Sampling* each : {&outside, &device}) each->add({2e5 * (1 + off), 2e5, 1e6});
    }
    EXPECT_EQ(outside.done(0), spread < 0.04);
    EXPECT_FALSE(device.done(0));
  }
}

/// Times of one call, nanoseconds: in runs of several, and by itself.
struct CallTimes {
  double several, alone;
};

/// Samples of runs of `calls` calls, and of one where there are several, until both have enough.
CallSampling sampled(int calls, CallTimes opponent, CallTimes candidate, bool twin = true,
                     std::vector<int>* kinds = nullptr) {
  SecretStream secret(7);
  CallSampling sampling(plan_of(0.01, 100, 8, 1000), std::nullopt, calls, DType::f32, twin);
  int now = sampling.next(secret);
  while (!sampling.done()) {
    if (kinds != nullptr) kinds->push_back(now);
    const bool alone = calls > 1 && now == 1;
    sampling.add(
        {alone ? opponent.alone : opponent.several, alone ? candidate.alone : candidate.several, 1},
        0);
    now = sampling.next(secret);
  }
  return sampling;
}

TEST(CallSampling, TheLongerTimeOfACallCounts) {
  const CallSampling batched = sampled(3, {1e6, 1e6}, {0.5e6, 1e6});
  EXPECT_TRUE(batched.lower_alone());
  EXPECT_DOUBLE_EQ(batched.speedup().point, 1);
  EXPECT_LT(batched.speedup().low, 1);
  EXPECT_GT(batched.speedup().high, 1);
  EXPECT_DOUBLE_EQ(batched.candidate_ms(), 1);
  EXPECT_DOUBLE_EQ(batched.several().speedup().point, 2);
  const CallSampling honest = sampled(3, {1e6, 1e6}, {0.5e6, 0.5e6});
  EXPECT_FALSE(honest.lower_alone());
  EXPECT_DOUBLE_EQ(honest.speedup().point, 2);
  EXPECT_DOUBLE_EQ(sampled(3, {1e6, 1e6}, {1e6, 0.5e6}).speedup().point, 1);
}

TEST(CallSampling, WhatARunTakesBesideItsCallsIsTheOpponentsToo) {
  // A run takes 0.2 ms beside its calls: by their runs, the candidate would be 1.02 times as fast.
  const CallSampling fast = sampled(1000, {10e3, 210e3}, {5e3, 205e3});
  EXPECT_FALSE(fast.lower_alone());
  EXPECT_DOUBLE_EQ(fast.speedup().point, 2);
  const CallSampling batched = sampled(1000, {100e3, 300e3}, {5e3, 300e3});
  EXPECT_TRUE(batched.lower_alone());
  EXPECT_DOUBLE_EQ(batched.speedup().point, 1);
  // An opponent that the device times shows nothing of it.
  EXPECT_FALSE(sampled(1000, {10e3, 10e3}, {5e3, 300e3}, /*twin=*/false).lower_alone());
  EXPECT_TRUE(sampled(1000, {10e3, 10e3}, {5e3, 330e3}, /*twin=*/false).lower_alone());
}

TEST(CallSampling, OneCallDecidesNothingThatItsClockCannotTell) {
  // 1% and 30 us of a call of 0.5 ms are 35 us.
  EXPECT_FALSE(sampled(3, {1e6, 1e6}, {0.467e6, 0.5e6}).lower_alone());
  EXPECT_TRUE(sampled(3, {1e6, 1e6}, {0.463e6, 0.5e6}).lower_alone());
}

TEST(CallSampling, BothKindsComeInPairsAndNoOrderIsFixed) {
  std::vector<int> kinds;
  sampled(5, {1e6, 1e6}, {1e6, 1e6}, true, &kinds);
  ASSERT_EQ(kinds.size(), 20u);  // Eight of several calls, twelve of one.
  EXPECT_EQ(std::ranges::count(kinds, 1), 12);
  bool alone_first = false, several_first = false;
  for (size_t i = 0; i < 16; i += 2) {
    EXPECT_EQ(kinds[i], kinds[i + 1]);
    if (i % 4 != 0) continue;
    EXPECT_NE(kinds[i], kinds[i + 2]);
    (kinds[i] == 1 ? alone_first : several_first) = true;
  }
  EXPECT_TRUE(alone_first && several_first);
}

TEST(CallSampling, NoMoreRunsOfOneCallAreTakenThanDecide) {
  SecretStream secret(7);
  const auto samples_alone = [&](double longer_ns) {
    CallSampling sampling(plan_of(0.01, 100, 8, 1000), std::nullopt, 5, DType::f32, true);
    for (int now = sampling.next(secret); !sampling.done(); now = sampling.next(secret)) {
      const int pair = sampling.count() / 2 % 3;  // By 0.1 ms shorter or longer, from pair to pair.
      const double alone = 1e6 + longer_ns + 0.1e6 * (pair - 1);
      sampling.add({1e6, now == 1 ? alone : 1e6, 1}, 0);
    }
    return sampling.count() - sampling.several().count();
  };
  EXPECT_EQ(samples_alone(-0.1e6),
            12);  // It is no longer than a call of several, as far as any says.
  EXPECT_EQ(samples_alone(0.05e6), 32);
  EXPECT_EQ(samples_alone(0.5e6), 12);
}

TEST(CallSampling, NoiseOfRunsOfOneCallLowersNoSpeedup) {
  // Each run of one call takes longer or shorter by up to 0.15 ms, a call of several 27 us: without
  // regard for chance one honest module in 64 would have a third of its speed.
  SecretStream secret(11);
  const auto noise = [&] {
    return 0.3e6 * (static_cast<double>(secret.next() >> 11) * 0x1p-53 - 0.5);
  };
  int lowered = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    CallSampling sampling(plan_of(0.01, 100, 8, 1000), std::nullopt, 300, DType::f32, true);
    for (int now = sampling.next(secret); !sampling.done(); now = sampling.next(secret)) {
      const double beside = now == 1 ? 1e6 : 0;
      sampling.add({27e3 + beside, 27e3 + beside + (now == 1 ? noise() : 0), 1}, 0);
    }
    lowered += sampling.lower_alone() ? 1 : 0;
  }
  EXPECT_LE(lowered, 6);
}

TEST(CallSampling, OfOneCallIsSampling) {
  const CallSampling sampling = sampled(1, {1e6, 1e6}, {0.5e6, 0.5e6});
  EXPECT_EQ(sampling.count(), 8);
  EXPECT_DOUBLE_EQ(sampling.speedup().point, 2);
}

TEST(Sampling, AClockTooSlowToSeeARunDoesNotDivideByZero) {
  Sampling sampling(plan_of(0.01, 100, 2, 10));
  sampling.add({0, 0, 0});
  sampling.add({0, 0, 0});
  EXPECT_DOUBLE_EQ(sampling.speedup().point, 1);
}

TEST(Sampling, AgainstARecordedTimeTheCandidatesOwnTimesCount) {
  Sampling sampling(plan_of(0.01, 100, 10, 1000), 3000.0);
  // The baseline of the samples, which only checks values, does not matter.
  for (int i = 0; i < 16; ++i) sampling.add({1.0 + i, i % 2 ? 1000.0 : 1500.0, 1});
  EXPECT_DOUBLE_EQ(sampling.speedup().point, 2.4);  // 3000 / 1250
  const double room = 1 + placement_share(1250);
  EXPECT_DOUBLE_EQ(sampling.speedup().low, 2 / room);  // the slower times give the lower bound
  EXPECT_DOUBLE_EQ(sampling.speedup().high, 3 * room);
  EXPECT_DOUBLE_EQ(sampling.baseline_ms(), 3000 * 1e-6);
  EXPECT_FALSE(sampling.done(0));

  Sampling steady(plan_of(0.01, 100, 10, 1000), 3000.0);
  for (int i = 0; i < 16; ++i) steady.add({1.0 + i, 1000, 1});
  EXPECT_TRUE(steady.done(0));
}

TEST(ResolvePlan, GivesSoftwareDevicesAShorterBudget) {
  EXPECT_EQ(resolve_plan({}, false).max_seconds, 2);
  EXPECT_EQ(resolve_plan({}, true).max_seconds, 0.5);
  EXPECT_EQ(resolve_plan(plan_of(0.01, 7, 10, 1000), true).max_seconds, 7);
}

TEST(ResolvePlan, RoundsUpToPairs) {
  EXPECT_EQ(resolve_plan(plan_of(0.01, 1, 5, 5), true).min_samples, 6);
  EXPECT_EQ(resolve_plan(plan_of(0.01, 1, 5, 3), true).max_samples, 6);
}

TEST(RoleSchedule, EveryPairIsBalancedAndItsOrderRandom) {
  SecretStream secret(1);
  RoleSchedule schedule;
  std::set<bool> firsts;
  for (int pair = 0; pair < 50; ++pair) {
    const Roles one = schedule.next(secret), other = schedule.next(secret);
    EXPECT_NE(one.baseline_first, other.baseline_first);
    firsts.insert(one.baseline_first);
  }
  EXPECT_EQ(firsts.size(), 2u);
}

TEST(SecretStream, DiffersFromTrialToTrialUnlessSeeded) {
  SecretStream a(std::nullopt), b(std::nullopt), c(7), d(7);
  EXPECT_NE(a.next(), b.next());
  EXPECT_NE(a.next(), a.next());
  EXPECT_EQ(c.next(), d.next());
}

}  // namespace

}  // namespace kbench::trial
