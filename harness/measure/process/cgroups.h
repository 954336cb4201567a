// Memory of this machine, and the limits of the control groups of this process and of all groups
// above, version 1 and 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kbench::process {

/// Folders of the system; only tests give others.
struct SystemFolders {
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
};

/// The number after `name` in a file with lines "NAME NUMBER ..."; 0 if it is not there.
int64_t table_entry(const std::string& path, const std::string& name);

/// Bytes of memory left by the tightest limit. Pages of files that the kernel can reclaim count as
/// free. Nothing if no group has a limit.
std::optional<int64_t> cgroup_memory_left(const SystemFolders& folders = {});

/// The smallest of the groups' quotas of processor time.
struct ProcessorQuota {
  double processors = 0;  ///< processor seconds per second
  double used_s = 0;      ///< by the group so far, seconds
};
/// Nothing if no group has a quota.
std::optional<ProcessorQuota> cgroup_processor_quota(const SystemFolders& folders = {});

/// Bytes that can be allocated without swapping and within the limits of the process's control
/// groups; 0 if the system does not say.
int64_t available_host_bytes(const SystemFolders& folders = {});

/// The peak memory of this process since the last forget_peak(), or since its start if the system
/// cannot reset it; 0 if the system does not say.
int64_t peak_host_bytes();
void forget_peak();

}  // namespace kbench::process
