// What the control groups of this process leave it: its own and all above it, version 1 and 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kbench::process {

/// Where the system says what there is; others in tests.
struct SystemFolders {
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
};

/// Bytes of memory that every group's limit leaves. Pages of files that the kernel takes back when
/// memory is short count as free. Nothing where no group has a limit.
std::optional<int64_t> cgroup_memory_left(const SystemFolders& folders = {});

/// The smallest of the groups' quotas of processor time.
struct ProcessorQuota {
  double processors = 0;  ///< seconds a second
  double used_s = 0;      ///< by the group so far
};
/// Nothing where no group has one.
std::optional<ProcessorQuota> cgroup_processor_quota(const SystemFolders& folders = {});

}  // namespace kbench::process
