// A time limit that does not run while the machine is suspended. The tests give the clock.
#include "harness/measure/process/deadline.h"

#include <gtest/gtest.h>

namespace kbench::process {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Deadline, PassesOnceTheStepsAddUpToIt) {
  Deadline::Clock::time_point now{};
  Deadline deadline(1, now);
  for (int step = 0; step < 10; ++step) {
    EXPECT_FALSE(deadline.passed(now)) << step;
    now += milliseconds(100);
  }
  EXPECT_FALSE(deadline.passed(now));
  EXPECT_TRUE(deadline.passed(now + milliseconds(1)));
}

TEST(Deadline, CountsALongGapBetweenLooksAsOneStep) {
  Deadline::Clock::time_point now{};
  Deadline deadline(10, now);
  now += hours(8);
  EXPECT_FALSE(deadline.passed(now));
  EXPECT_GT(deadline.spent(), 0);
  EXPECT_LT(deadline.spent(), 5);
  now += hours(8);
  EXPECT_FALSE(deadline.passed(now));
  // Frequent calls count in full, also after a gap.
  const double before = deadline.spent();
  for (int step = 0; step < 10; ++step) deadline.passed(now += milliseconds(500));
  EXPECT_NEAR(deadline.spent() - before, 5, 1e-9);
}

TEST(Deadline, LeavesOutWhatItIsToldTo) {
  Deadline::Clock::time_point now{};
  Deadline deadline(1, now);
  EXPECT_FALSE(deadline.passed(now += milliseconds(900)));
  for (int step = 0; step < 100; ++step) deadline.leave_out(now += milliseconds(900));
  EXPECT_FALSE(deadline.passed(now));
  EXPECT_NEAR(deadline.spent(), 0.9, 1e-9);
  EXPECT_TRUE(deadline.passed(now + milliseconds(101)));
}

TEST(Deadline, StillPassesWhenEveryStepIsLong) {
  Deadline::Clock::time_point now{};
  Deadline deadline(10, now);
  int looks = 0;
  while (!deadline.passed(now += seconds(60))) ASSERT_LT(++looks, 100);
  EXPECT_GE(looks, 2);
}

TEST(Deadline, OfNothingPassesAtTheFirstStep) {
  const Deadline::Clock::time_point now{};
  Deadline deadline(0, now);
  EXPECT_FALSE(deadline.passed(now));
  EXPECT_TRUE(deadline.passed(now + milliseconds(1)));
}

}  // namespace
}  // namespace kbench::process
