#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "kbench/metrics.h"
#include "kbench/score.h"
#include "tests/metrics/made_attempts.h"

namespace kbench {
namespace {

using testing::add_samples;
using testing::kA;
using testing::kB;
using testing::kC;
using testing::passed;
using testing::unanswered;
using testing::wrong;

const std::vector<int> kLevels = {1, 1, 2};

/// The three tasks of the vectors.
AttemptSet example() {
  std::vector<Attempt> all;
  add_samples(all, "m", kA, {1.5, 0.8, 0, 0});
  add_samples(all, "m", kB, {0, 0, 0, 0});
  add_samples(all, "m", kC, {2.0, 1.2, 0.9, 0});
  return AttemptSet(all);
}

double at(const AttemptSet& set, int k, const Criterion& criterion, const MetricScope& scope) {
  std::vector<std::optional<Share>> shares;
  for (const Ranking& task : rankings(set, 0, scope)) {
    shares.push_back(fast_at_k(task, k, criterion));
  }
  return mean_share(shares, Bootstrap(kLevels)).value.value().low;
}

double best_mean(const AttemptSet& set, int k, const Confirmations& confirmed = {}) {
  return best_of(rankings(set, 0, {.tasks = {kA}}, confirmed), k, Bootstrap(std::vector<int>{1}))
      .arithmetic->point;
}

TEST(Samples, MatchTheVectorsOfThreeTasks) {
  const AttemptSet set = example();
  const MetricScope scope{.tasks = {kA, kB, kC}};
  const int ks[] = {1, 2, 4};
  const double pass[] = {0.4166666667, 0.6111111111, 0.6666666667};
  const double fast_1[] = {0.25, 0.4444444444, 0.6666666667};
  const double fast_15[] = {0.0833333333, 0.1666666667, 0.3333333333};
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(at(set, ks[i], {}, scope), pass[i], 1e-10);
    EXPECT_NEAR(at(set, ks[i], {.p = 1}, scope), fast_1[i], 1e-10);
    EXPECT_NEAR(at(set, ks[i], {.p = 1.5}, scope), fast_15[i], 1e-10);
  }
}

TEST(Samples, AreJudgedByTheLowerBoundWhereAsked) {
  // 1.04 times faster, but the interval reaches below 1.
  const AttemptSet set(std::vector<Attempt>{passed("m", kA, 1, 1.04)});
  const Ranking task = rankings(set, 0, {.tasks = {kA}})[0];
  EXPECT_EQ(fast_at_k(task, 1, {.p = 1})->low, 1);
  EXPECT_EQ(fast_at_k(task, 1, {.p = 1, .at_low = true})->low, 0);
}

TEST(Samples, OfATaskWithoutAnswersCountInTheMean) {
  std::vector<Attempt> all;
  add_samples(all, "m", kA, {1.5, 1.5});
  const Score score =
      mean_pass_at_k(draws(AttemptSet(all), 0, {.tasks = {kA, kB, kC}}), 1, Bootstrap(kLevels));
  EXPECT_NEAR(score.value->low, 1.0 / 3, 1e-12);
  EXPECT_NEAR(score.value->high, 1, 1e-12);
  EXPECT_EQ(score.interval.high, 1);
}

TEST(Samples, ThatWereAskedForAndAreNotThereAreLost) {
  std::vector<Attempt> all;
  add_samples(all, "m", kA, {1.5, 1.5, 0, 0, 0});
  const Draws task = draws(AttemptSet(all), 0, {.tasks = {kA}, .samples = 10})[0];
  EXPECT_EQ(task.n, 5);
  EXPECT_EQ(task.c, 2);
  EXPECT_EQ(task.lost, 5);
}

TEST(Samples, WithoutAnAnswerOrAVerdictAreLostAndNotWrong) {
  std::vector<Attempt> all = {passed("m", kA, 1, 2), wrong("m", kA, 2), unanswered("m", kA, 3)};
  all.push_back(wrong("m", kA, 4));
  all.back().verdict = Verdict::harness_error;
  all.push_back(wrong("m", kA, 5));
  all.back().verdict.reset();
  all.push_back(wrong("m", kA, 6));
  all.back().outcome = Outcome::no_candidate;
  all.back().verdict.reset();
  const Draws task = draws(AttemptSet(all), 0, {.tasks = {kA}})[0];
  EXPECT_EQ(task.n, 3);
  EXPECT_EQ(task.c, 1);
  EXPECT_EQ(task.lost, 3);
}

TEST(Samples, MadeTwiceCountOnceTheLastFinishedOne) {
  const AttemptSet set(std::vector<Attempt>{unanswered("m", kA, 1), wrong("m", kA, 1),
                                            passed("m", kA, 1, 2), unanswered("m", kA, 1)});
  const Draws task = draws(set, 0, {.tasks = {kA}})[0];
  EXPECT_EQ(task.n, 1);
  EXPECT_EQ(task.c, 1);
  EXPECT_EQ(set.rows().size(), 1u);
}

TEST(Samples, AreGoodOnceAnAttemptIsUpToTheLimit) {
  const AttemptSet set(
      std::vector<Attempt>{wrong("m", kA, 1, 1), passed("m", kA, 1, 2, 2), wrong("m", kA, 1, 3)});
  EXPECT_EQ(draws(set, 0, {.tasks = {kA}})[0].c, 1);
  EXPECT_EQ(draws(set, 0, {.tasks = {kA}, .attempts = 1})[0].c, 0);
}

TEST(Samples, OfAStrictScoreWereFoundWithoutLeniency) {
  std::vector<Attempt> all = {passed("m", kA, 1, 2), passed("m", kA, 2, 2)};
  all[0].leniencies = {"unclosed_fence"};
  all[1].operator_steps = true;
  const AttemptSet set(all);
  EXPECT_EQ(draws(set, 0, {.tasks = {kA}})[0].c, 2);
  EXPECT_EQ(draws(set, 0, {.tasks = {kA}, .strict = true})[0].c, 1);
  EXPECT_EQ(draws(set, 0, {.tasks = {kA}, .strict = true, .own_kernels = true})[0].c, 0);
}

TEST(Samples, OfAGeneralScoreAreRightAtSizesDrawnInSecret) {
  std::vector<Attempt> all = {passed("m", kA, 1, 2), passed("m", kA, 2, 2), passed("m", kA, 3, 2)};
  all[0].general = true;
  all[1].general = false;  // The third was not tried.
  const AttemptSet set(all);
  EXPECT_EQ(draws(set, 0, {.tasks = {kA}})[0].c, 3);
  EXPECT_EQ(draws(set, 0, {.tasks = {kA}, .general = true})[0].c, 2);
  const Funnel sum = funnel(set, 0, {.tasks = {kA}}).front();
  EXPECT_EQ(sum.tried_at_sizes, 2);
  EXPECT_EQ(sum.general, 1);
}

TEST(Samples, TooFewForKLeaveTheMeanUndefinedAndSaySo) {
  std::vector<Attempt> all;
  add_samples(all, "m", kA, {1.5, 0});
  add_samples(all, "m", kB, {1.5, 0, 0});
  add_samples(all, "m", kC, {1.5, 0, 0});
  const Score score =
      mean_pass_at_k(draws(AttemptSet(all), 0, {.tasks = {kA, kB, kC}}), 3, Bootstrap(kLevels));
  EXPECT_FALSE(score.value);
  EXPECT_EQ(score.undefined, 1);
}

TEST(Samples, AllOfKIsScoredAsOneOfKIs) {
  const Score score =
      mean_pass_hat_k(draws(example(), 0, {.tasks = {kA, kB, kC}}), 2, Bootstrap(kLevels));
  EXPECT_NEAR(score.value->low, (1.0 / 6 + 0 + 0.5) / 3, 1e-12);
}

Result confirmation(TaskId task, const std::string& hash, Verdict verdict, double speedup);

/// Each measured again, as exactly as before.
Confirmations confirm_all(const std::vector<Attempt>& all) {
  Confirmations confirmed;
  for (const Attempt& a : all) {
    if (!a.correct()) continue;
    confirmed.add(confirmation(a.task, a.candidate_hash, Verdict::passed, a.speedup.point));
  }
  return confirmed;
}

TEST(BestOfK, MatchesTheVectorsOfOneTask) {
  std::vector<Attempt> all;
  add_samples(all, "m", kA, {1.5, 0, 0.8, 0});
  const std::vector<Ranking> ranked =
      rankings(AttemptSet(all), 0, {.tasks = {kA}}, confirm_all(all));
  const Bootstrap bootstrap(std::vector<int>{1});
  const double arithmetic[] = {0.575, 1.0166666667, 1.325, 1.5};
  for (int k = 1; k <= 4; ++k) {
    const BestOf best = best_of(ranked, k, bootstrap);
    EXPECT_NEAR(best.arithmetic->point, arithmetic[k - 1], 1e-10);
    // Of {1, 1, 1, 1.5} the best is 1.5 with probability k/4.
    EXPECT_NEAR(best.geometric->point, std::pow(1.5, k / 4.0), 1e-10);
    EXPECT_FALSE(best.lower_bound());
  }
  EXPECT_EQ(best_of(ranked, 5, bootstrap).undefined, 1);
}

Result confirmation(TaskId task, const std::string& hash, Verdict verdict, double speedup) {
  Result r;
  r.task = task;
  r.candidate_hash = hash;
  r.verdict = verdict;
  r.speedup = {speedup, speedup, speedup};
  return r;
}

TEST(BestOfK, ChoosesByFirstMeasurementAndTakesTheConfirmed) {
  std::vector<Attempt> all;
  add_samples(all, "m", kA, {1.5, 1.4});
  const AttemptSet set(all);
  Confirmations confirmed;
  confirmed.add(confirmation(kA, all[0].candidate_hash, Verdict::passed, 1.1));
  confirmed.add(confirmation(kA, all[0].candidate_hash, Verdict::harness_error, 0));
  // Two samples: the first is chosen, although what it is worth turned out to be less.
  EXPECT_NEAR(best_mean(set, 2, confirmed), 1.1, 1e-12);
  EXPECT_NEAR(best_mean(set, 1, confirmed), 1.25, 1e-12);
  const Winner winner = winners(set, 0, {.tasks = {kA}}, confirmed)[0];
  EXPECT_EQ(winner.sample, 1);
  EXPECT_EQ(winner.speedup.point, 1.5);
  EXPECT_EQ(winner.value(), 1.1);
  confirmed.add(confirmation(kA, all[0].candidate_hash, Verdict::wrong_values, 9));
  EXPECT_EQ(winners(set, 0, {.tasks = {kA}}, confirmed)[0].value(), 0);
}

TEST(BestOfK, IsALowerBoundWhereSamplesAreLost) {
  const AttemptSet set(std::vector<Attempt>{passed("m", kA, 1, 2), unanswered("m", kA, 2)});
  const BestOf best = best_of(rankings(set, 0, {.tasks = {kA}}), 1, Bootstrap(std::vector<int>{1}));
  EXPECT_TRUE(best.lower_bound());
  EXPECT_EQ(best.unconfirmed, 0);
  EXPECT_EQ(best.arithmetic->point, 1);
}

TEST(BestOfK, CountsAChoiceThatWasNotConfirmedByItsLowerBound) {
  std::vector<Attempt> all;
  add_samples(all, "m", kA, {1.5, 1.4, 0});
  const AttemptSet set(all);
  const std::vector<Ranking> ranked = rankings(set, 0, {.tasks = {kA}});
  const BestOf best = best_of(ranked, 3, Bootstrap(std::vector<int>{1}));
  EXPECT_EQ(best.unconfirmed, 1);
  EXPECT_TRUE(best.lower_bound());
  // Of two measurements, which the wrong sample is none of: the tail is 1 - sqrt(0.975).
  const double low = 1.5 * std::pow(0.95, 2.2365 / 1.96);
  EXPECT_NEAR(best.arithmetic->low, low, 1e-4);
  EXPECT_NEAR(best.arithmetic->point, low, 1e-4);
  EXPECT_NEAR(best.arithmetic->high, 1.5 * 1.05, 1e-12);
  EXPECT_NEAR(winners(set, 0, {.tasks = {kA}})[0].value(), low, 1e-4);
  // One sample is no choice.
  EXPECT_NEAR(best_mean(set, 1), 2.9 / 3, 1e-12);
}

TEST(BestOfK, TakesAttemptsOfAChainForAChoiceToo) {
  const AttemptSet set(std::vector<Attempt>{passed("m", kA, 1, 1.5), passed("m", kA, 1, 1.4, 2)});
  const Ranking task = rankings(set, 0, {.tasks = {kA}})[0];
  EXPECT_EQ(task.among(1), 2);
  EXPECT_LT(task.samples[0].worth(task.among(1)).low, 1.5 * 0.95);
}

TEST(BestOfK, TakesOneMeasurementOfEqualAnswersForNoChoice) {
  std::vector<Attempt> all;
  add_samples(all, "m", kA, {1.5, 1.5, 1.5});
  for (Attempt& a : all) a.candidate_hash = "same";
  const BestOf best =
      best_of(rankings(AttemptSet(all), 0, {.tasks = {kA}}), 3, Bootstrap(std::vector<int>{1}));
  EXPECT_FALSE(best.lower_bound());
  EXPECT_EQ(best.arithmetic->point, 1.5);
  // What is left open by the one measurement stays so, however often its answer came.
  EXPECT_NEAR(best.arithmetic->low, 1.5 * 0.95, 1e-12);
  EXPECT_NEAR(best.arithmetic->high, 1.5 * 1.05, 1e-12);
}

/// What a trial says of a candidate whose speedup is `truth`, by its samples' median.
class Trials {
 public:
  Interval measure(double truth) {
    std::vector<double> ratios;
    for (int i = 0; i < 40; ++i) ratios.push_back(truth * std::exp(noise_(dice_)));
    return median_interval(std::move(ratios));
  }

 private:
  std::mt19937_64 dice_{48};
  std::normal_distribution<double> noise_{0, 0.25};
};

struct EqualAnswers {
  int best_holds = 0;   ///< runs in which the interval of the best of 50 holds the true speedup
  int above_truth = 0;  ///< runs in which fast_p@50 (low), p being the truth, counts the task
  double mean_best = 0;
};

/// Runs of 50 answers that are all equal, so that whichever is chosen has the same speedup.
EqualAnswers fifty_equal_answers(int runs, double truth, bool confirm) {
  EqualAnswers found;
  Trials trials;
  const Bootstrap bootstrap(std::vector<int>{1}, 100);
  for (int run = 0; run < runs; ++run) {
    std::vector<Attempt> all;
    for (int sample = 1; sample <= 50; ++sample) {
      all.push_back(passed("m", kA, sample, 1));
      all.back().speedup = trials.measure(truth);
    }
    const AttemptSet set(all);
    Confirmations confirmed;
    if (confirm) {
      const Winner winner = winners(set, 0, {.tasks = {kA}})[0];
      Result again =
          confirmation(kA, all[size_t(winner.sample - 1)].candidate_hash, Verdict::passed, truth);
      again.speedup = trials.measure(truth);
      confirmed.add(again);
    }
    const std::vector<Ranking> ranked = rankings(set, 0, {.tasks = {kA}}, confirmed);
    const Interval best = *best_of(ranked, 50, bootstrap).arithmetic;
    found.best_holds += best.low <= truth && truth <= best.high;
    found.mean_best += best.point / runs;
    found.above_truth += fast_at_k(ranked[0], 50, {.p = truth, .at_low = true})->low > 0.5;
  }
  ::testing::Test::RecordProperty("interval_holds_the_truth", found.best_holds);
  ::testing::Test::RecordProperty("low_end_above_the_truth", found.above_truth);
  ::testing::Test::RecordProperty("mean_best", std::to_string(found.mean_best));
  return found;
}

TEST(BestOfFiftyEqualAnswers, MeasuredAgainHoldsTheTruthAsOftenAsOneMeasurement) {
  const EqualAnswers found = fifty_equal_answers(1000, 1.0, /*confirm=*/true);
  EXPECT_GE(found.best_holds, 930);
  EXPECT_LE(found.best_holds, 985);
  EXPECT_LE(found.above_truth, 45);
  EXPECT_NEAR(found.mean_best, 1.0, 0.01);
}

TEST(BestOfFiftyEqualAnswers, NotMeasuredAgainIsCorrectedForTheChoice) {
  const EqualAnswers found = fifty_equal_answers(1000, 1.0, /*confirm=*/false);
  EXPECT_GE(found.best_holds, 940);
  EXPECT_LE(found.above_truth, 60);
  EXPECT_LE(found.mean_best, 1.0);
}

TEST(BestOfK, HoldsTheTruthOfManyTasksWithEqualAnswers) {
  // Over tasks what luck gives to each winner would add up, and the interval would shrink.
  Trials trials;
  std::vector<Attempt> all;
  MetricScope scope;
  std::vector<int> levels;
  Confirmations confirmed;
  for (int task = 1; task <= 60; ++task) {
    scope.tasks.push_back({1, task});
    levels.push_back(1);
    for (int sample = 1; sample <= 20; ++sample) {
      all.push_back(passed("m", {1, task}, sample, 1));
      all.back().speedup = trials.measure(1.2);
    }
  }
  const AttemptSet set(all);
  const Bootstrap bootstrap(levels);
  const BestOf corrected = best_of(rankings(set, 0, scope), 20, bootstrap);
  EXPECT_EQ(corrected.unconfirmed, 60);
  EXPECT_LE(corrected.geometric->point, 1.2);
  EXPECT_GE(corrected.geometric->high, 1.2);
  for (const Winner& winner : winners(set, 0, scope)) {
    Result again;
    again.task = {1, int(confirmed.size()) + 1};
    again.candidate_hash =
        "mlevel1/" + std::to_string(again.task.number) + "/" + std::to_string(winner.sample) + ".1";
    again.verdict = Verdict::passed;
    again.speedup = trials.measure(1.2);
    confirmed.add(again);
  }
  const BestOf best = best_of(rankings(set, 0, scope, confirmed), 20, bootstrap);
  EXPECT_EQ(best.unconfirmed, 0);
  EXPECT_LE(best.geometric->low, 1.2);
  EXPECT_GE(best.geometric->high, 1.2);
  EXPECT_LT(best.geometric->high - best.geometric->low, 0.1);
}

TEST(FastAtK, GoesByTheConfirmedSpeedupOfTheOneThatIsChosen) {
  std::vector<Attempt> all;
  add_samples(all, "m", kA, {1.5, 1.4, 0});
  const AttemptSet set(all);
  Confirmations confirmed;
  confirmed.add(confirmation(kA, all[0].candidate_hash, Verdict::passed, 0.9));
  const Ranking task = rankings(set, 0, {.tasks = {kA}}, confirmed)[0];
  EXPECT_EQ(fast_at_k(task, 3, {.p = 1})->low, 0);
  // Of the three pairs one is without the first, and then the second is chosen.
  EXPECT_NEAR(fast_at_k(task, 2, {.p = 1})->low, 1.0 / 3, 1e-12);
  EXPECT_EQ(fast_at_k(task, 3, {.p = 0})->low, 1);
  EXPECT_FALSE(fast_at_k(task, 4, {.p = 1}));
}

TEST(FastAtK, LiesBetweenAllLostSamplesSlowAndAllFast) {
  // The second chain is right and slow, and had another attempt under way.
  const AttemptSet set(std::vector<Attempt>{wrong("m", kA, 1), passed("m", kA, 2, 0.5),
                                            unanswered("m", kA, 2, 2), unanswered("m", kA, 3)});
  const Share share = *fast_at_k(rankings(set, 0, {.tasks = {kA}})[0], 1, {.p = 1});
  EXPECT_EQ(share.low, 0);
  EXPECT_NEAR(share.high, 2.0 / 3, 1e-12);
}

}  // namespace
}  // namespace kbench
