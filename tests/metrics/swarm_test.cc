#include <gtest/gtest.h>

#include <vector>

#include "kbench/metrics.h"
#include "tests/metrics/made_attempts.h"

namespace kbench {
namespace {

using testing::add_samples;
using testing::kA;
using testing::kB;
using testing::kC;
using testing::unanswered;

const std::vector<uint32_t> kTwo = {0, 1};

TEST(SwarmOfTwo, MatchesTheVectors) {
  std::vector<Attempt> all;
  add_samples(all, "x", kA, {1.5, 0, 0, 0});
  add_samples(all, "y", kA, {1.1, 1.2, 0, 0});
  const Swarm both = swarm(AttemptSet(all), kTwo, {.tasks = {kA}});
  ASSERT_EQ(both.together.size(), 4u);
  EXPECT_NEAR(both.together[0].solved->low, 0.625, 1e-12);
  EXPECT_NEAR(both.together[1].solved->low, 0.9166666667, 1e-10);
  EXPECT_EQ(both.together[1].calls, 4);
  EXPECT_FALSE(both.together[1].tokens);
  EXPECT_EQ(both.members[0].alone[3].calls, 4);
  EXPECT_NEAR(both.members[0].alone[1].solved->low, 0.5, 1e-12);
}

TEST(SwarmOfTwo, SaysWhoWonAndWhatIsLostWithoutEach) {
  std::vector<Attempt> all;
  add_samples(all, "x", kA, {1.5, 0});
  add_samples(all, "y", kA, {1.1, 1.2});
  add_samples(all, "x", kB, {0.5, 0});
  add_samples(all, "y", kC, {3, 2});
  const AttemptSet set(all);
  const MetricScope scope{.tasks = {kA, kB, kC, {2, 2}}, .samples = 2};
  Swarm both = swarm(set, kTwo, scope);
  EXPECT_EQ(both.solved, 3);
  EXPECT_EQ(both.faster, 2);
  EXPECT_EQ(both.members[0].won, 2);
  EXPECT_EQ(both.members[1].won, 1);
  EXPECT_EQ(both.members[0].lost_solved, 1);
  EXPECT_EQ(both.members[0].lost_faster, 0);
  EXPECT_EQ(both.members[1].lost_solved, 1);
  EXPECT_EQ(both.members[1].lost_faster, 1);
  EXPECT_FALSE(both.winner[3]);

  // Confirmed, x is no longer the fastest on A.
  Confirmations confirmed;
  Result again;
  again.task = kA;
  again.candidate_hash = all[0].candidate_hash;
  again.verdict = Verdict::passed;
  again.speedup = {1, 1.05, 1.1};
  confirmed.add(again);
  both = swarm(set, kTwo, scope, confirmed);
  EXPECT_EQ(both.winner[0], 1u);
}

TEST(SwarmOfTwo, CountsTokensWhereAllAreKnown) {
  std::vector<Attempt> all;
  add_samples(all, "x", kA, {1.5, 0});
  add_samples(all, "y", kA, {0, 0});
  for (Attempt& a : all) a.usage = {.input = 100, .output = a.model == "x" ? 10 : 30};
  const Swarm both = swarm(AttemptSet(all), kTwo, {.tasks = {kA}});
  EXPECT_EQ(*both.together[1].tokens, 2 * 110 + 2 * 130);
  EXPECT_EQ(*both.members[1].alone[0].tokens, 130);
}

TEST(PairedComparison, ResamplesTheSameTasksForBoth) {
  // y is right wherever x is, and on one task more: the difference varies less than either.
  std::vector<Attempt> all;
  std::vector<int> levels;
  MetricScope scope;
  for (int i = 1; i <= 40; ++i) {
    add_samples(all, "x", {1, i}, {i % 2 ? 2.0 : 0.0});
    add_samples(all, "y", {1, i}, {i % 2 || i == 2 ? 2.0 : 0.0});
    scope.tasks.push_back({1, i});
    levels.push_back(1);
  }
  const AttemptSet set(all);
  const PairedComparison c = compare_models(set, 1, 0, scope, 1, Bootstrap(levels));
  EXPECT_EQ(c.both, 20);
  EXPECT_EQ(c.only_first, 1);
  EXPECT_EQ(c.only_second, 0);
  EXPECT_EQ(c.neither, 19);
  EXPECT_EQ(c.p, 1);
  EXPECT_NEAR(c.difference->point, 0.025, 1e-12);
  EXPECT_EQ(c.difference->low, 0);
  EXPECT_LE(c.difference->high, 0.1);
}

TEST(PairedComparison, LeavesOutTasksThatAreLostForOne) {
  std::vector<Attempt> all;
  add_samples(all, "x", kA, {2});
  add_samples(all, "x", kB, {2});
  add_samples(all, "y", kA, {0});
  all.push_back(unanswered("y", kB, 1));
  const std::vector<int> levels = {1, 1};
  const PairedComparison c =
      compare_models(AttemptSet(all), 0, 1, {.tasks = {kA, kB}}, 1, Bootstrap(levels));
  EXPECT_EQ(c.only_first, 1);
  EXPECT_EQ(c.unknown, 1);
  // On B the other may have been as good: the difference lies between 1/2 and 1.
  EXPECT_LE(c.difference->low, 0.5);
  EXPECT_EQ(c.difference->high, 1);
}

}  // namespace
}  // namespace kbench
