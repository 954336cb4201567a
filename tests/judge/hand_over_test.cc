#include "harness/measure/judge/hand_over.h"

#include <gtest/gtest.h>

namespace kbench::judge {
namespace {

TEST(HandOver, IsTheMedianOfATrial) {
  HandOver hand_over;
  EXPECT_FALSE(hand_over.known());
  hand_over.add({420e3, 900e3, 400e3});
  EXPECT_TRUE(hand_over.known());
  EXPECT_DOUBLE_EQ(hand_over.ns(), 420e3);
}

TEST(HandOver, OfATrialThatOthersDisturbedDoesNotCount) {
  HandOver hand_over;
  hand_over.add({4.4e6, 4.1e6, 0.5e6, 5.7e6, 3.3e6});  // Others opened the device meanwhile.
  hand_over.add({0.43e6, 0.41e6, 0.42e6});
  EXPECT_DOUBLE_EQ(hand_over.ns(), 0.42e6);
  hand_over.add({4e6, 4e6, 4e6});
  EXPECT_DOUBLE_EQ(hand_over.ns(), 0.42e6);
}

TEST(HandOver, IsMeasuredInAFewTrials) {
  HandOver hand_over;
  int trials = 0;
  for (; !hand_over.certain(); ++trials) hand_over.add({0.4e6});
  EXPECT_EQ(trials, 8);
}

}  // namespace
}  // namespace kbench::judge
