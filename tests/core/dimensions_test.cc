#include "libkbench/core/dimensions.h"

#include <gtest/gtest.h>

namespace kbench {
namespace {

using Dims = std::vector<Dimension>;

TEST(Dimensions, BroadcastOperandsStandStillWhereTheyRepeat) {
  EXPECT_EQ(broadcast_dimensions({3, 1, 7}, {5, 1}, {3, 5, 7}),
            (Dims{{3, 7, 0}, {5, 0, 1}, {7, 1, 0}}));
  EXPECT_EQ(broadcast_dimensions({}, {1}, {}), Dims{});
}

TEST(Dimensions, ThoseThatRunOnInBothOperandsBecomeOne) {
  const auto both = [](const Shape& a, const Shape& b, const Shape& out) {
    return merged(broadcast_dimensions(a, b, out));
  };
  EXPECT_EQ(both({3, 5, 7}, {3, 5, 7}, {3, 5, 7}), (Dims{{105, 1, 1}}));
  EXPECT_EQ(both({3, 5, 6, 7}, {5, 1, 1}, {3, 5, 6, 7}),
            (Dims{{3, 210, 0}, {5, 42, 1}, {42, 1, 0}}));
  EXPECT_EQ(both({4, 6}, {1}, {4, 6}), (Dims{{24, 1, 0}}));
}

TEST(Dimensions, ATransposedOperandKeepsThemApart) {
  const Dims transposed = {{3, 5, 1}, {5, 1, 3}};
  EXPECT_EQ(merged(transposed), transposed);
  // Two that are transposed as one block still join.
  EXPECT_EQ(merged({{4, 6, 1}, {2, 3, 12}, {3, 1, 4}}), (Dims{{4, 6, 1}, {6, 1, 4}}));
}

TEST(Dimensions, BackwardsRunsJoinOnlyWithTheirLike) {
  EXPECT_EQ(merged({{4, -6, 6}, {6, -1, 1}}), (Dims{{24, -1, 1}}));
  EXPECT_EQ(merged({{4, -6, 6}, {6, 1, 1}}).size(), 2u);
}

TEST(Dimensions, ExtentsOfOneAreLeftOut) {
  EXPECT_EQ(merged({{1, 99, 7}, {3, 5, 5}, {1, 8, 8}, {5, 1, 1}}), (Dims{{15, 1, 1}}));
  EXPECT_TRUE(merged({{1, 5, 5}, {1, 1, 1}}).empty());
}

}  // namespace
}  // namespace kbench
