// Who gets what next. Pure.
#include "harness/evaluate/evaluators/backlog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace kbench::evaluators {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

uint64_t take(Backlog& backlog, size_t device) {
  const auto taken = backlog.take(device);
  return taken ? taken->id : 0;
}

TEST(Backlog, OfOneDeviceAndOneGroupIsInOrder) {
  Backlog backlog(1);
  for (uint64_t id = 1; id <= 14; ++id) EXPECT_TRUE(backlog.add({id, "a", {}, {}}));
  EXPECT_EQ(take(backlog, 0), 1u);
  EXPECT_THAT(backlog.following(0), ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13));
  for (uint64_t id = 2; id <= 14; ++id) EXPECT_EQ(take(backlog, 0), id);
  EXPECT_EQ(take(backlog, 0), 0u);
  EXPECT_EQ(backlog.size(), 0u);
}

TEST(Backlog, KeepsAGroupTogetherAndSaysWhatFollows) {
  Backlog backlog(1);
  const char* const groups[] = {"a", "b", "a", "b", "a", ""};
  for (uint64_t id = 1; id <= 6; ++id) backlog.add({id, groups[id - 1], {}, {}});
  EXPECT_EQ(take(backlog, 0), 1u);
  EXPECT_THAT(backlog.following(0), ElementsAre(3, 5, 2, 4, 6));
  for (const uint64_t id : {3, 5, 2, 4, 6}) EXPECT_EQ(take(backlog, 0), id);
}

TEST(Backlog, HasTwoDevicesAtTwoGroups) {
  Backlog backlog(2);
  const char* const groups[] = {"a", "a", "a", "b", "b", "b"};
  for (uint64_t id = 1; id <= 6; ++id) backlog.add({id, groups[id - 1], {}, {}});
  EXPECT_EQ(take(backlog, 0), 1u);
  EXPECT_EQ(take(backlog, 1), 4u);
  EXPECT_EQ(take(backlog, 1), 5u);
  EXPECT_EQ(take(backlog, 0), 2u);
}

TEST(Backlog, LetsNobodyWaitForEverBehindABusyGroup) {
  Backlog backlog(1);
  uint64_t id = 0;
  backlog.add({++id, "busy", {}, {}});
  EXPECT_EQ(take(backlog, 0), 1u);
  backlog.add({1000, "rare", {}, {}});
  for (int turn = 0; turn < 100; ++turn) {
    backlog.add({++id, "busy", {}, {}});
    backlog.add({++id, "busy", {}, {}});
    if (take(backlog, 0) == 1000) return;
  }
  FAIL() << "the rare one was never taken";
}

TEST(Backlog, GivesAnIdleDeviceWhatAnotherHasSetAside) {
  Backlog backlog(2);
  for (uint64_t id = 1; id <= 4; ++id) backlog.add({id, "a", {}, {}});
  EXPECT_EQ(take(backlog, 0), 1u);
  EXPECT_THAT(backlog.following(0), ElementsAre(2, 3, 4));
  EXPECT_EQ(take(backlog, 1), 4u);  // What it would have begun last.
  EXPECT_THAT(backlog.following(0), ElementsAre(2, 3));
  EXPECT_EQ(take(backlog, 1), 3u);
  EXPECT_EQ(take(backlog, 0), 2u);
  EXPECT_EQ(take(backlog, 0), 0u);
}

TEST(Backlog, OfWhatIsForOneDeviceGivesAnotherNothing) {
  Backlog backlog(2);
  backlog.add({1, "a", 1, {}});
  backlog.add({2, "a", {}, 1});
  EXPECT_THAT(backlog.following(1), ElementsAre(1));
  EXPECT_EQ(take(backlog, 0), 2u);
  EXPECT_EQ(take(backlog, 0), 0u);
  EXPECT_EQ(take(backlog, 1), 1u);
}

TEST(Backlog, RemovesWhatWaitsAndWhatIsSetAside) {
  Backlog backlog(1);
  for (uint64_t id = 1; id <= 7; ++id) backlog.add({id, "a", {}, {}});
  EXPECT_EQ(take(backlog, 0), 1u);
  backlog.following(0);
  EXPECT_TRUE(backlog.remove(3));
  EXPECT_TRUE(backlog.remove(7));
  EXPECT_FALSE(backlog.remove(3));
  EXPECT_FALSE(backlog.remove(1));
  for (const uint64_t id : {2, 4, 5, 6, 0}) EXPECT_EQ(take(backlog, 0), id);
}

TEST(Backlog, TakeOutReturnsWhatNoOtherDeviceMayRun) {
  Backlog backlog(2);
  backlog.add({1, "a", 0, {}});
  backlog.add({2, "a", {}, {}});
  backlog.add({3, "a", {}, 1});
  EXPECT_THAT(backlog.following(0), ElementsAre(1, 2, 3));
  std::set<uint64_t> orphans;
  for (const Waiting& each : backlog.take_out(0)) orphans.insert(each.id);
  EXPECT_THAT(orphans, ElementsAre(1, 3));
  EXPECT_FALSE(backlog.add({4, "a", 0, {}}));
  EXPECT_EQ(take(backlog, 0), 0u);
  EXPECT_EQ(take(backlog, 1), 2u);
  EXPECT_EQ(backlog.devices_left(), 1u);
  backlog.add({5, "a", {}, {}});
  EXPECT_EQ(backlog.take_out(1).size(), 1u);
  EXPECT_FALSE(backlog.add({6, "a", {}, {}}));
}

TEST(Backlog, TakesEachOnceWhateverTheTurns) {
  Backlog backlog(3);
  for (uint64_t id = 1; id <= 500; ++id) {
    backlog.add({id, std::string(1, static_cast<char>('a' + id * 7 % 11)), {}, {}});
  }
  std::set<uint64_t> taken;
  for (uint64_t turn = 0; taken.size() < 500; ++turn) {
    const size_t device = turn * turn % 7 % 3;
    backlog.following((device + turn) % 3);
    if (const uint64_t id = take(backlog, device)) {
      EXPECT_TRUE(taken.insert(id).second) << id;
    }
    ASSERT_LT(turn, 5000u);
  }
  EXPECT_THAT(backlog.clear(), IsEmpty());
}

}  // namespace
}  // namespace kbench::evaluators
