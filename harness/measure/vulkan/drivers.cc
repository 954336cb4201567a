#include "harness/measure/vulkan/drivers.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "kbench/text.h"

namespace kbench::vulkan {

std::string absent_drivers(const std::string& variable, const std::string& value) {
  std::string absent;
  std::istringstream paths(value);
  for (std::string path; std::getline(paths, path, ':');) {
    std::error_code ignored;
    if (path.empty() || std::filesystem::exists(path, ignored)) continue;
    absent += (absent.empty() ? "" : " and ") + shown(path);
  }
  return absent.empty() ? "" : variable + " names " + absent + ", which is not there";
}

std::string absent_drivers() {
  for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return absent_drivers(variable, value);
  }
  return "";
}

}  // namespace kbench::vulkan
