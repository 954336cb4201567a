#include "harness/measure/process/host_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace kbench::process {
namespace {

/// The line `name` of one of Linux's tables of memory, in bytes; 0 when it is not there.
int64_t table_entry(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    int64_t kibibytes = 0;
    if (word == name && file >> kibibytes) return kibibytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

}  // namespace

int64_t available_host_bytes(const SystemFolders& folders) {
  const int64_t free = table_entry(folders.proc + "/meminfo", "MemAvailable:");
  const auto left = cgroup_memory_left(folders);
  if (!left) return free;
  const int64_t most = std::max<int64_t>(*left, 1);  // 0 would mean that nothing is known
  return free > 0 ? std::min(free, most) : most;
}

int64_t peak_host_bytes() { return table_entry("/proc/self/status", "VmHWM:"); }

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace kbench::process
