#include <gtest/gtest.h>

#include <vector>

#include "kbench/metrics.h"
#include "tests/metrics/made_attempts.h"

namespace kbench {
namespace {

using testing::kA;
using testing::kB;
using testing::passed;
using testing::unanswered;
using testing::wrong;

const Bootstrap kOne(std::vector<int>{1});

/// Chains of one task, each correct for the first time at an attempt (0: never) of five.
AttemptSet chains(const std::vector<int>& first_correct) {
  std::vector<Attempt> all;
  for (size_t i = 0; i < first_correct.size(); ++i) {
    const int sample = static_cast<int>(i) + 1, last = first_correct[i];
    for (int a = 1; a <= (last > 0 ? last : 5); ++a) {
      all.push_back(a == last ? passed("m", kA, sample, 1.5, a) : wrong("m", kA, sample, a));
    }
  }
  return AttemptSet(all);
}

TEST(ByAttempt, MatchesTheVectorsOfSixChains) {
  const std::vector<ByAttempt> all =
      by_attempt(chains({1, 3, 0, 2, 5, 0}), 0, {.tasks = {kA}}, kOne);
  const double correct[] = {1. / 6, 2. / 6, 3. / 6, 3. / 6, 4. / 6};
  const double hazard[] = {1. / 6, 1. / 5, 1. / 4, 0, 1. / 3};
  ASSERT_EQ(all.size(), 5u);
  for (size_t a = 0; a < 5; ++a) {
    EXPECT_EQ(all[a].attempt, static_cast<int>(a) + 1);
    EXPECT_NEAR(all[a].share.low, correct[a], 1e-12);
    EXPECT_NEAR(all[a].hazard(), hazard[a], 1e-12);
    EXPECT_EQ(all[a].chains, 6);
  }
}

TEST(ByAttempt, TakesTheBestSoFarForFastP) {
  const AttemptSet set(std::vector<Attempt>{passed("m", kA, 1, 0.5, 1), passed("m", kA, 1, 2, 2),
                                            wrong("m", kA, 1, 3)});
  const std::vector<ByAttempt> all = by_attempt(set, 0, {.tasks = {kA}}, kOne, {.p = 1});
  EXPECT_EQ(all[0].good, 0);
  EXPECT_EQ(all[1].good, 1);
  EXPECT_EQ(all[2].good, 1);
}

TEST(ByAttempt, BoundsChainsThatWereLostOnTheWay) {
  const AttemptSet set(std::vector<Attempt>{passed("m", kA, 1, 1.5, 1), wrong("m", kA, 2, 1),
                                            unanswered("m", kA, 2, 2), wrong("m", kA, 3, 1)});
  const std::vector<ByAttempt> all = by_attempt(set, 0, {.tasks = {kA}, .samples = 4}, kOne);
  EXPECT_EQ(all[0].lost, 1);  // the fourth sample
  EXPECT_EQ(all[0].open, 3);
  EXPECT_EQ(all[1].lost, 2);
  EXPECT_EQ(all[1].open, 2);
  EXPECT_NEAR(all[1].share.low, 0.25, 1e-12);
  EXPECT_NEAR(all[1].share.high, 0.75, 1e-12);
}

TEST(Funnel, CountsHowFarAnswersCome) {
  std::vector<Attempt> all = {
      passed("m", kA, 1, 1.5), passed("m", kA, 2, 0.5), wrong("m", kA, 3), wrong("m", kA, 4),
      wrong("m", kA, 5),       wrong("m", kA, 6),       wrong("m", kA, 7), unanswered("m", kA, 8),
      wrong("m", kB, 1, 1),    passed("m", kB, 1, 3, 2)};
  all[1].leniencies = {"unclosed_fence"};
  all[1].operator_steps = true;
  all[3].verdict = Verdict::compile_error;
  all[4].verdict = Verdict::invalid_candidate;
  all[5].verdict = Verdict::timeout;
  all[6].outcome = Outcome::truncated;
  all[6].verdict.reset();
  all[6].candidate_hash.clear();
  all[2].candidate_hash = all[3].candidate_hash;  // the same code twice
  const std::vector<Funnel> funnels = funnel(AttemptSet(all), 0, {.tasks = {kA, kB}});
  ASSERT_EQ(funnels.size(), 3u);
  const Funnel& sum = funnels[0];
  EXPECT_EQ(sum.answered, 9);
  EXPECT_EQ(sum.unfinished, 1);
  EXPECT_EQ(sum.candidates, 8);
  EXPECT_EQ(sum.resolved, 7);
  EXPECT_EQ(sum.compiled, 6);
  EXPECT_EQ(sum.ran, 5);
  EXPECT_EQ(sum.correct, 3);
  EXPECT_EQ(sum.faster, 2);
  EXPECT_EQ(sum.lenient, 1);
  EXPECT_EQ(sum.with_builtins, 1);
  EXPECT_EQ(sum.distinct, 7);
  EXPECT_EQ(sum.outcomes.at(Outcome::truncated), 1);
  EXPECT_EQ(sum.verdicts.at(Verdict::wrong_values), 2);
  EXPECT_EQ(funnels[1].answered, 8);
  EXPECT_EQ(funnels[2].correct, 1);
}

TEST(Spending, KeepsUnknownApartFromZero) {
  std::vector<Attempt> all = {passed("m", kA, 1, 1.5), wrong("m", kA, 2), unanswered("m", kA, 3),
                              passed("m", kB, 1, 0.9)};
  all[0].usage.output = 100;
  all[0].cost = 0.5;
  all[1].usage.output = 50;
  all[3].usage.output = 30;
  all[3].cost = 0.25;
  const Spending s = spending(AttemptSet(all), 0, {.tasks = {kA, kB}});
  EXPECT_EQ(s.attempts, 3);
  EXPECT_EQ(s.output.sum, 180);
  EXPECT_FALSE(s.output.lower_bound());
  EXPECT_EQ(s.cost.sum, 0.75);
  EXPECT_EQ(s.cost.unknown, 1);
  EXPECT_TRUE(s.cost.lower_bound());
  EXPECT_EQ(s.input.known, 0);
  EXPECT_FALSE(s.input.per(1));
  EXPECT_EQ(s.solved, 2);
  EXPECT_EQ(s.faster, 1);
  EXPECT_EQ(*s.output.per(s.solved), 90);
}

}  // namespace
}  // namespace kbench
