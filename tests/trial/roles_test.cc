#include <gtest/gtest.h>

#include <set>

#include "harness/measure/trial/sampling.h"

namespace kbench::trial {
namespace {

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
