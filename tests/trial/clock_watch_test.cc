// What counts as a device's full clock. Pure: times are numbers.
#include "harness/measure/trial/clock_watch.h"

#include <gtest/gtest.h>

namespace kbench::trial {
namespace {

TEST(FullClock, IsThatOfTheShortestTimeSoFar) {
  FullClock clock;
  EXPECT_TRUE(clock.reached(200e3, 1.1));  // Nothing faster is known.
  EXPECT_TRUE(clock.reached(190e3, 1.1));
  EXPECT_TRUE(clock.reached(35e3, 1.1));    // The clock has risen,
  EXPECT_FALSE(clock.reached(190e3, 1.1));  // and fallen.
  EXPECT_TRUE(clock.reached(38e3, 1.1));
  EXPECT_FALSE(clock.reached(39e3, 1.1));
}

TEST(FullClock, IsReachedWithinTheSlackAskedFor) {
  FullClock clock;
  clock.reached(35e3, 1);
  EXPECT_TRUE(clock.reached(45e3, 1.4));
  EXPECT_FALSE(clock.reached(45e3, 1.1));
}

}  // namespace
}  // namespace kbench::trial
