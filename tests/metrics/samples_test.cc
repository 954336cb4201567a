#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kbench/metrics.h"
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
  return mean_pass_at_k(draws(set, 0, scope, criterion), k, Bootstrap(kLevels)).value.value().low;
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
  const MetricScope scope{.tasks = {kA}};
  EXPECT_EQ(draws(set, 0, scope, {.p = 1})[0].c, 1);
  EXPECT_EQ(draws(set, 0, scope, {.p = 1, .at_low = true})[0].c, 0);
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

TEST(BestOfK, MatchesTheVectorsOfOneTask) {
  std::vector<Attempt> all;
  add_samples(all, "m", kA, {1.5, 0, 0.8, 0});
  const AttemptSet set(all);
  const Bootstrap bootstrap(std::vector<int>{1});
  const double arithmetic[] = {0.575, 1.0166666667, 1.325, 1.5};
  for (int k = 1; k <= 4; ++k) {
    const BestOf best = best_of(set, 0, {.tasks = {kA}}, k, bootstrap);
    EXPECT_NEAR(best.arithmetic->point, arithmetic[k - 1], 1e-10);
    // Of {1, 1, 1, 1.5} the best is 1.5 with probability k/4.
    EXPECT_NEAR(best.geometric->point, std::pow(1.5, k / 4.0), 1e-10);
  }
  EXPECT_EQ(best_of(set, 0, {.tasks = {kA}}, 5, bootstrap).undefined, 1);
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
  const Bootstrap bootstrap(std::vector<int>{1});
  // Two samples: the first is chosen, although what it is worth turned out to be less.
  EXPECT_NEAR(best_of(set, 0, {.tasks = {kA}}, 2, bootstrap, confirmed).arithmetic->point, 1.1,
              1e-12);
  EXPECT_NEAR(best_of(set, 0, {.tasks = {kA}}, 1, bootstrap, confirmed).arithmetic->point, 1.25,
              1e-12);
  const Winner winner = winners(set, 0, {.tasks = {kA}}, confirmed)[0];
  EXPECT_EQ(winner.sample, 1);
  EXPECT_EQ(winner.speedup.point, 1.5);
  EXPECT_EQ(winner.value(), 1.1);
  confirmed.add(confirmation(kA, all[0].candidate_hash, Verdict::wrong_values, 9));
  EXPECT_EQ(winners(set, 0, {.tasks = {kA}}, confirmed)[0].value(), 0);
}

TEST(BestOfK, IsALowerBoundWhereSamplesAreLost) {
  const AttemptSet set(std::vector<Attempt>{passed("m", kA, 1, 2), unanswered("m", kA, 2)});
  const BestOf best = best_of(set, 0, {.tasks = {kA}}, 1, Bootstrap(std::vector<int>{1}));
  EXPECT_TRUE(best.lower_bound);
  EXPECT_EQ(best.arithmetic->point, 1);
}

}  // namespace
}  // namespace kbench
