// The load of other processes, from made-up clocks and tables.
#include "harness/measure/process/other_load.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "tests/candidate/support.h"

namespace kbench::process {
namespace {

/// The clocks of two processors, ten seconds later.
double share(double busy_s, double own_s, std::optional<double> quota = std::nullopt,
             double group_s = 0) {
  ProcessorClocks before{100, 2, 50, 5, 0};
  ProcessorClocks after{110, 2, 50 + busy_s, 5 + own_s, 0};
  if (quota) {
    before.quota = ProcessorQuota{*quota, 7};
    after.quota = ProcessorQuota{*quota, 7 + group_s};
  }
  return taken_by_others(before, after).value_or(-1);
}

TEST(OtherLoad, IsWhatNeitherWeNorIdlenessTook) {
  EXPECT_DOUBLE_EQ(share(8, 8), 0);
  EXPECT_DOUBLE_EQ(share(8, 9), 0);  // The clocks of processes are finer than those of processors.
  EXPECT_DOUBLE_EQ(share(15, 10), 0.25);
  EXPECT_DOUBLE_EQ(share(20, 0), 1);
  EXPECT_DOUBLE_EQ(share(0, 0), -1) << "the clocks stand still";
}

TEST(OtherLoad, LeavesOutWhatTheTicksMayHide) {
  const ProcessorClocks before{0, 2, 0, 0, 0.01};
  const ProcessorClocks after{0.1, 2, 0.06, 0.02, 0.01};
  EXPECT_NEAR(*taken_by_others(before, after), 0.1, 1e-9);
}

TEST(OtherLoad, CountsWhatOthersOfTheGroupTakeOfItsQuota) {
  EXPECT_DOUBLE_EQ(share(8, 4, 1.0, 4), 0);     // Others, on processors that we may not fill.
  EXPECT_DOUBLE_EQ(share(8, 4, 1.0, 9), 0.5);   // Half of the quota is others'.
  EXPECT_DOUBLE_EQ(share(18, 4, 1.0, 4), 0.4);  // 0.6 processors are free.
  EXPECT_DOUBLE_EQ(share(15, 10, 4.0, 15), 0.25);
}

TEST(OtherLoad, CountsTheProcessorsThatMayBeUsed) {
  cpu_set_t usable;
  ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  int first = 0;
  while (!CPU_ISSET(first, &usable)) ++first;
  const testing_support::ScratchFolder scratch;
  const SystemFolders folders{scratch.path("proc"), scratch.path("cgroup")};
  EXPECT_FALSE(processor_clocks({}, folders));
  scratch.write("proc/stat", "cpu  9 9 9 9 9 9 9 9 0 0\ncpu" + std::to_string(first) +
                                 " 100 20 30 4000 5000 6 7 8 9 10\ncpu1023 1 1 1 1 1 1 1 1 0 0\n"
                                 "intr 5\n");
  const auto clocks = processor_clocks({}, folders);
  ASSERT_TRUE(clocks);
  EXPECT_DOUBLE_EQ(clocks->processors, 1);
  EXPECT_NEAR(clocks->busy_s, 171 * clocks->tick_s, 1e-9);
  EXPECT_GT(clocks->own_s, 0);
  EXPECT_FALSE(clocks->quota);
}

}  // namespace
}  // namespace kbench::process
