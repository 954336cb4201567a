#include "harness/measure/process/host_memory.h"

#include <algorithm>
#include <fstream>

namespace kbench::process {

int64_t available_host_bytes(const SystemFolders& folders) {
  const int64_t free = 1024 * table_entry(folders.proc + "/meminfo", "MemAvailable:");
  const auto left = cgroup_memory_left(folders);
  if (!left) return free;
  const int64_t most = std::max<int64_t>(*left, 1);  // 0 would mean unknown
  return free > 0 ? std::min(free, most) : most;
}

int64_t peak_host_bytes() { return 1024 * table_entry("/proc/self/status", "VmHWM:"); }

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace kbench::process
