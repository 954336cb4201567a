// Limits of control groups, read from folders made by the tests.
#include "harness/measure/process/cgroups.h"

#include <gtest/gtest.h>

#include "tests/candidate/support.h"

namespace kbench::process {
namespace {

class CgroupsTest : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) { scratch_.write(path, text); }
  /// Writes files of /proc about this process's groups and memory.
  void say(const std::string& groups, int64_t kibibytes = 1000) {
    write("proc/self/cgroup", groups);
    write("proc/meminfo",
          "MemTotal: 5000 kB\nMemAvailable: " + std::to_string(kibibytes) + " kB\n");
  }
  SystemFolders folders() const { return {scratch_.path("proc"), scratch_.path("cgroup")}; }
  void limit(const std::string& group, const std::string& most, int64_t used,
             int64_t inactive = 0) {
    write(group + "/memory.max", most + "\n");
    write(group + "/memory.current", std::to_string(used) + "\n");
    write(group + "/memory.stat",
          "anon 1\ninactive_file " + std::to_string(inactive) + "\nactive_file 7\n");
  }

  testing_support::ScratchFolder scratch_;
};

TEST_F(CgroupsTest, TheLeastOfAllGroupsAboveCounts) {
  say("0::/job/step/task\n");
  limit("cgroup/job/step/task", "max", 100);
  limit("cgroup/job/step", "90000", 50000, 10000);
  limit("cgroup/job", "200000", 150500);
  EXPECT_EQ(cgroup_memory_left(folders()), 49500);
  EXPECT_EQ(available_host_bytes(folders()), 49500);
  say("0::/job/step/task\n", 20);
  EXPECT_EQ(available_host_bytes(folders()), 20 * 1024);
}

TEST_F(CgroupsTest, MemoryIsUnlimitedWhereNoGroupSaysOtherwise) {
  say("0::/job\n");
  limit("cgroup/job", "max", 100);
  EXPECT_EQ(cgroup_memory_left(folders()), std::nullopt);
  EXPECT_EQ(available_host_bytes(folders()), 1000 * 1024);
  EXPECT_EQ(cgroup_memory_left({scratch_.path("none"), scratch_.path("none")}), std::nullopt);
}

TEST_F(CgroupsTest, AGroupOverItsLimitLeavesNextToNothing) {
  say("0::/\n");
  limit("cgroup", "1000", 3000);
  EXPECT_EQ(cgroup_memory_left(folders()), 0);
  EXPECT_EQ(available_host_bytes(folders()), 1);  // 0: nothing is known
}

TEST_F(CgroupsTest, VersionOneIsReadByItsControllers) {
  say("9:name=systemd:/x\n4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/\n");
  // A container sees its own group at the mounted folder, whatever the path says.
  write("cgroup/memory/memory.limit_in_bytes", "50000\n");
  write("cgroup/memory/memory.usage_in_bytes", "30000\n");
  write("cgroup/memory/memory.stat", "cache 9\ntotal_inactive_file 4000\n");
  EXPECT_EQ(cgroup_memory_left(folders()), 24000);
  write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(cgroup_memory_left(folders()), std::nullopt);
  write("cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "150000\n");
  write("cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  write("cgroup/cpu,cpuacct/docker/abc/cpuacct.usage", "2500000000\n");
  const auto quota = cgroup_processor_quota(folders());
  ASSERT_TRUE(quota);
  EXPECT_DOUBLE_EQ(quota->processors, 1.5);
  EXPECT_DOUBLE_EQ(quota->used_s, 2.5);
}

TEST_F(CgroupsTest, TheSmallestQuotaOfProcessorsCounts) {
  say("0::/job/step\n");
  EXPECT_FALSE(cgroup_processor_quota(folders()));
  write("cgroup/job/step/cpu.max", "max 100000\n");
  EXPECT_FALSE(cgroup_processor_quota(folders()));
  write("cgroup/job/step/cpu.max", "400000 100000\n");
  write("cgroup/job/cpu.max", "200000 100000\n");
  write("cgroup/job/cpu.stat", "usage_usec 7000000\nuser_usec 1\n");
  const auto quota = cgroup_processor_quota(folders());
  ASSERT_TRUE(quota);
  EXPECT_DOUBLE_EQ(quota->processors, 2);
  EXPECT_DOUBLE_EQ(quota->used_s, 7);
}

}  // namespace
}  // namespace kbench::process
