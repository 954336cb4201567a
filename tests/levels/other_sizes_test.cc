// The sizes beside preset smoke at which candidates are tried.
#include "kbench/other_sizes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kbench/error.h"

namespace kbench {
namespace {

int64_t integer(const Variables& variables, const std::string& name) {
  return std::get<int64_t>(variables.find(name)->second);
}

TEST(OtherSizes, AreLargerCheapAndTheSameEveryTime) {
  size_t with_two = 0;
  for (const Task& task : tasks()) {
    const std::vector<Variables> sets = other_sizes(task_at(task.id, Preset::smoke));
    EXPECT_EQ(sets, other_sizes(task_at(task.id, Preset::smoke))) << to_string(task.id);
    EXPECT_LE(sets.size(), 2u);
    with_two += sets.size() == 2 ? 1 : 0;
    const auto own = build_graph(task, Preset::smoke);
    for (const Variables& set : sets) {
      const auto graph = build_graph(task, Preset::smoke, set);  // throws where it is senseless
      EXPECT_LE(graph->flops(), std::max(2e7, 1.6 * own->flops())) << to_string(task.id);
      EXPECT_EQ(graph->nodes().size(), own->nodes().size()) << to_string(task.id);
      for (const auto& [name, value] : set) {
        EXPECT_GT(std::get<int64_t>(value), integer(own->variables(), name)) << to_string(task.id);
      }
    }
  }
  EXPECT_GT(with_two, tasks().size() * 9 / 10);
}

TEST(OtherSizes, OfEveryTaskAreNotMultiplesOfEightAlone) {
  for (const Task& task : tasks()) {
    for (const Variables& set : other_sizes(task_at(task.id, Preset::smoke))) {
      EXPECT_TRUE(std::ranges::any_of(set, [](const auto& each) {
        return std::get<int64_t>(each.second) % 8 != 0;
      })) << to_string(task.id);
    }
  }
}

/// Of volumes there is room for little: every size a little larger, or one of them by half.
TEST(OtherSizes, OfAVolumeAreTwoThoughThereIsRoomForLittle) {
  const std::vector<Variables> sets = other_sizes({{2, 89}, "smoke", {}});
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].size(), 3u);
  EXPECT_GT(integer(sets[1], "depth"), integer(sets[0], "depth"));
}

TEST(OtherSizes, OfAMatrixProductAreNoMultiplesOfATile) {
  const std::vector<Variables> sets = other_sizes({{1, 1}, "smoke", {}});
  ASSERT_EQ(sets.size(), 2u);
  for (const Variables& set : sets) {
    EXPECT_GT(integer(set, "N"), 64);
    EXPECT_NE(integer(set, "N") % 8, 0);
  }
}

TEST(OtherSizes, OfAReductionReachBeyondASubgroup) {
  bool beyond = false;
  for (const Variables& set : other_sizes({{1, 47}, "smoke", {}})) {
    beyond = beyond || (set.contains("dim1") && integer(set, "dim1") > 64);
  }
  EXPECT_TRUE(beyond);
}

/// llvmpipe ends the loops of an invocation after 65,535 rounds; a plain kernel has three loops.
TEST(OtherSizes, OfANormAreLoopsThatOneInvocationMayRun) {
  for (const Variables& set : other_sizes({{1, 40}, "smoke", {}})) {
    EXPECT_LT(3 * integer(set, "features") * integer(set, "dim1") * integer(set, "dim2"), 65535);
  }
}

TEST(OtherSizes, LeaveOptionsAlone) {
  const std::set<std::string> options = {"kernel_size", "kernel_size_w", "padding",   "stride",
                                         "groups",      "dilation",      "num_layers"};
  for (const Task& task : tasks()) {
    for (const Variables& set : other_sizes(task_at(task.id, Preset::smoke))) {
      for (const auto& [name, value] : set) {
        EXPECT_FALSE(options.contains(name)) << to_string(task.id) << " " << name;
      }
    }
  }
}

}  // namespace
}  // namespace kbench
