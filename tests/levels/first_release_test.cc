#include <gtest/gtest.h>

#include <algorithm>

#include "kbench/task.h"

namespace kbench {
namespace {

TEST(FirstRelease, SaysOfTasksHowTheirProgramDiffered) {
  const auto differ = [](const Task& task) { return !first_release(task.id).empty(); };
  EXPECT_EQ(std::ranges::count_if(tasks(), differ), 23);
  EXPECT_EQ(first_release({1, 38}), "it divides by the sum of absolute values, not by their mean");
  EXPECT_EQ(first_release({1, 12}), "");  // It computes the same.
  EXPECT_EQ(first_release({0, 0, "my/mlp"}), "");
}

}  // namespace
}  // namespace kbench
