#include "harness/program/host_memory.h"

#include <fstream>
#include <limits>
#include <string>

namespace kbench::program {

int64_t available_host_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    int64_t kibibytes = 0;
    if (name == "MemAvailable:" && file >> kibibytes) return kibibytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

}  // namespace kbench::program
