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

TEST(Sampling, EndsAtFourSamplesThatAgreeWell) {
  // Their range, wider by 1.52 of itself on both sides, has to lie within the precision.
  const auto agreeing = [](double range, int calls = 0, std::optional<double> recorded = {}) {
    Sampling sampling(plan_of(0.01, 100, 0, 1000), recorded, calls);
    while (!sampling.done(0)) {
      sampling.add({2e6, 1e6 * (sampling.count() % 4 < 2 ? 1 : 1 + range), 1});
    }
    return sampling.count();
  };
  EXPECT_EQ(agreeing(0.0045), 4);
  EXPECT_EQ(agreeing(0.0055), 6);
  EXPECT_EQ(agreeing(0.01), 8);
  EXPECT_EQ(agreeing(0, /*calls=*/1), 8);
  EXPECT_EQ(agreeing(0, /*calls=*/0, 2e6), 8);

  Sampling sampling(plan_of(0.01, 100, 0, 1000));
  for (const double off : {0.0, 2.0, 3.0, 4.0}) sampling.add({2000 + off, 1000, 1});
  EXPECT_TRUE(sampling.done(0));
  const double room = 1 + placement_share(1000);
  EXPECT_NEAR(sampling.speedup().low, (2 - 1.52 * 0.004) / room, 1e-12);
  EXPECT_NEAR(sampling.speedup().high, (2.004 + 1.52 * 0.004) * room, 1e-12);
  EXPECT_NEAR(sampling.candidate_ms_at_most(), 1e-3, 1e-12);
}

TEST(Sampling, ASpentBudgetEndsNothingBeforeEightSamplesUnlessFewerAreAskedFor) {
  for (const int least : {0, 2, 4, 10}) {
    Sampling sampling(plan_of(0.01, 1, least, 1000));
    while (!sampling.done(2)) sampling.add({2e6, 1e6 * (1 + sampling.count() % 3), 1});
    EXPECT_EQ(sampling.count(), least == 0 ? 8 : least);
  }
  Sampling most(plan_of(0.01, 1, 0, 4));
  while (!most.done(0)) most.add({2e6, 1e6 * (1 + most.count() % 3), 1});
  EXPECT_EQ(most.count(), 4);
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
  const SamplingPlan plan = plan_of(0.01, 100, 0, 1000);
  EXPECT_EQ(samples_of(plan, 1e6, 5e6, 0.01), 4);
  EXPECT_EQ(samples_of(plan, 1e6, 5e6, 0.03), 6);
  EXPECT_EQ(samples_of(plan, 1e6, 1.9e6, 0.01), 12);
  EXPECT_EQ(samples_of(plan_of(0.01, 100, 16, 1000), 1e6, 5e6, 0.01), 16);
}

TEST(Sampling, OfASlowCandidateGoesOnAtAThreshold) {
  SamplingPlan plan = plan_of(0.01, 100, 0, 1000);
  plan.thresholds = {0.2, 1};
  constexpr double kJitter = 0.004;
  EXPECT_EQ(samples_of(plan, 1e6, 5e6 * (1 - kJitter), kJitter), 6);  // It is within the precision.
  EXPECT_EQ(samples_of(plan, 1e6, 6e6, kJitter), 4);
}

/// What many trials found of one true speedup.
struct Trials {
  double missed = 0;    ///< share of those whose samples' interval misses it
  double at_four = 0;   ///< share of those that ended at four samples
  double samples = 0;   ///< in the mean
  double mean_log = 0;  ///< of the speedups found, over the true one
};

/// Of many trials. `noise` gives the logarithms of the disturbances of a sample's two runs, in
/// their order.
template <class Noise>
Trials trials(double speedup, int how_many, Noise noise) {
  constexpr double kRun = 1e9;
  Trials all;
  std::mt19937 random(27);
  for (int trial = 0; trial < how_many; ++trial) {
    Sampling sampling(plan_of(0.01, 1e-4, 0, 1000));
    bool baseline_first = true;
    while (!sampling.done(0)) {
      if (sampling.count() % 2 != 0) {
        baseline_first = !baseline_first;
      } else {
        baseline_first = (random() & 1) != 0;
      }
      auto [first, second] = noise(sampling.count(), random);
      if (!baseline_first) std::swap(first, second);
      sampling.add({kRun * std::exp(first), kRun / speedup * std::exp(second), 1});
    }
    const Interval found = sampling.speedup();
    const double room = 1 + placement_share(kRun);
    all.missed += found.low * room > speedup || found.high / room < speedup;
    all.at_four += sampling.count() == 4;
    all.samples += sampling.count();
    all.mean_log += std::log(found.point / speedup);
  }
  for (double* each : {&all.missed, &all.at_four, &all.samples, &all.mean_log}) *each /= how_many;
  return all;
}

/// Normal noise, by which ratios differ by this share, and what else was seen on GPUs
/// (docs/results/method.md): something lengthens a run of this share of the samples by 0.3 to 5%,
/// or in bursts both runs of three samples in the mean; each run takes longer than the one before
/// it by the same share, as the clock falls; the second run of a sample takes longer.
struct GpuNoise {
  double core = 0, lengthened = 0;
  bool bursts = false;
  double clock = 0, second = 0;
  bool now = false;

  std::pair<double, double> operator()(int sample, std::mt19937& random) {
    std::normal_distribution normal(0.0, core / std::sqrt(2.0));
    std::uniform_real_distribution share(0.0, 1.0);
    const bool goes_on = bursts && sample != 0 && share(random) < 2 / 3.0;
    if (!goes_on) now = share(random) < lengthened;
    const bool one = share(random) < 0.5;
    const auto time = [&](int run, bool longer) {
      const double by = longer ? 0.003 * std::pow(0.05 / 0.003, share(random)) : 0;
      return normal(random) + by + clock * (2 * sample + run) + second * run;
    };
    const double first = time(0, now && (bursts || one));
    return {first, time(1, now && (bursts || !one))};
  }
};

TEST(Sampling, FewSamplesHoldTheTruthAsOftenAsTheySay) {
  struct Case {
    GpuNoise noise;
    double samples;  ///< that it takes at most, in the mean
  };
  constexpr double kTwelfth = 1 / 12.0;
  for (const Case& each :
       std::vector<Case>{{{.core = 0.0005}, 4.1},
                         {{.core = 0.001}, 4.1},
                         {{.core = 0.002}, 5},
                         {{.core = 0.003}, 6},
                         {{.core = 0.005}, 8.5},
                         {{.core = 0.01}, 17},
                         {{.core = 0.0005, .lengthened = kTwelfth}, 6},
                         {{.core = 0.002, .lengthened = kTwelfth}, 7},
                         {{.core = 0.01, .lengthened = kTwelfth}, 18.5},
                         {{.core = 0.001, .lengthened = 0.25}, 11},
                         {{.core = 0.001, .lengthened = kTwelfth, .bursts = true}, 6},
                         {{.core = 0.003, .lengthened = 0.25, .bursts = true}, 12},
                         {{.core = 0.001, .clock = 0.001}, 4.5},
                         {{.core = 0.001, .second = 0.005}, 8}}) {
    const Trials found = trials(1, 10000, each.noise);
    EXPECT_LT(found.missed, 0.05) << each.noise.core;
    EXPECT_LT(std::abs(found.mean_log), 0.0005) << each.noise.core;
    EXPECT_LT(found.samples, each.samples) << each.noise.core << " " << found.at_four;
  }
}

/// Of many trials of a slow candidate, the share whose interval misses its median.
template <class Noise>
double share_missed(Noise noise) {
  return trials(0.25, 20000,
                [&](int, std::mt19937& random) {
                  const double first = noise(random);
                  return std::pair(first, noise(random));
                })
      .missed;
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
  CallSampling sampling(plan_of(0.01, 100, 0, 1000), std::nullopt, calls, DType::f32, twin);
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
  EXPECT_EQ(resolve_plan({}, true).max_seconds, 0.25);
  EXPECT_EQ(resolve_plan(plan_of(0.01, 7, 10, 1000), true).max_seconds, 7);
}

TEST(ResolvePlan, RoundsUpToPairs) {
  EXPECT_EQ(resolve_plan(plan_of(0.01, 1, 5, 5), true).min_samples, 6);
  EXPECT_EQ(resolve_plan(plan_of(0.01, 1, 5, 3), true).max_samples, 6);
  EXPECT_EQ(resolve_plan(plan_of(0.01, 1, 0, 1), true).max_samples, 4);
  EXPECT_EQ(fewest_samples(resolve_plan({}, true)), 4);
  EXPECT_EQ(fewest_samples(resolve_plan(plan_of(0.01, 1, 1, 1), true)), 2);
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
