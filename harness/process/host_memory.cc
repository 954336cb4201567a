#include "harness/process/host_memory.h"

#include <fstream>
#include <limits>
#include <string>

namespace kbench::process {
namespace {

/// The line `name` of one of Linux's tables of memory, in bytes; 0 when it is not there.
int64_t table_entry(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    int64_t kibibytes = 0;
    if (word == name && file >> kibibytes) return kibibytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

}  // namespace

int64_t available_host_bytes() { return table_entry("/proc/meminfo", "MemAvailable:"); }

int64_t peak_host_bytes() { return table_entry("/proc/self/status", "VmHWM:"); }

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace kbench::process
