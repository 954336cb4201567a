#include <gtest/gtest.h>

#include "harness/evaluate/models/server.h"

namespace kbench::models {
namespace {

using Ended = ConnectionLimit::Ended;

void take(ConnectionLimit& limit, int places) {
  for (int i = 0; i < places; ++i) ASSERT_TRUE(limit.take({}));
}

TEST(ConnectionLimit, HalvesOnceARound) {
  ConnectionLimit limit(8);
  take(limit, 8);
  const uint64_t round = limit.round();
  EXPECT_EQ(limit.give_back(Ended::limited, round), 4);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(limit.give_back(Ended::limited, round), 0);
  EXPECT_EQ(limit.limit(), 4);
  take(limit, 1);
  EXPECT_EQ(limit.give_back(Ended::limited, limit.round()), 2);
}

TEST(ConnectionLimit, NeverFallsToNone) {
  ConnectionLimit limit(3);
  for (int i = 0; i < 5; ++i) {
    take(limit, 1);
    limit.give_back(Ended::limited, limit.round());
  }
  EXPECT_EQ(limit.limit(), 1);
}

TEST(ConnectionLimit, GrowsByOneAfterACleanRound) {
  ConnectionLimit limit(8);
  take(limit, 1);
  EXPECT_EQ(limit.give_back(Ended::limited, 0), 4);
  const auto well = [&] {
    take(limit, 1);
    return limit.give_back(Ended::well, limit.round());
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(well(), 0);
  EXPECT_EQ(well(), 5);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(well(), 0);
  EXPECT_EQ(well(), 6);
  // A failure of another kind says nothing.
  take(limit, 1);
  EXPECT_EQ(limit.give_back(Ended::otherwise, limit.round()), 0);
  for (int i = 0; i < 50; ++i) well();
  EXPECT_EQ(limit.limit(), 8);
}

}  // namespace
}  // namespace kbench::models
