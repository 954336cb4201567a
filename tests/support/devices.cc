#include "tests/support/devices.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace kbench::testing {
namespace {

std::string devices_json() {
  if (const char* file = std::getenv("KBENCH_TEST_DEVICES")) {
    std::ifstream stream(file, std::ios::binary);
    if (stream) return {std::istreambuf_iterator<char>(stream), {}};
  }
  const char* const chosen = std::getenv("KBENCH_PROGRAM");
  const std::string program = chosen != nullptr ? chosen : KBENCH_PROGRAM;
  std::string text;
  if (FILE* pipe = popen(("'" + program + "' devices --json 2>/dev/null").c_str(), "re")) {
    std::array<char, 4096> some;
    while (const size_t count = fread(some.data(), 1, some.size(), pipe)) {
      text.append(some.data(), count);
    }
    pclose(pipe);
  }
  return text;
}

}  // namespace

const std::vector<ListedDevice>& listed_devices() {
  static const std::vector<ListedDevice> kDevices = [] {
    std::vector<ListedDevice> devices;
    const auto list = nlohmann::json::parse(devices_json(), nullptr, false);
    if (!list.is_array()) return devices;
    for (const auto& each : list) devices.push_back({each["type"], each["usable"]});
    return devices;
  }();
  return kDevices;
}

bool has_device() { return std::ranges::any_of(listed_devices(), &ListedDevice::usable); }

bool has_software_device() {
  return std::ranges::any_of(listed_devices(),
                             [](const auto& each) { return each.usable && each.type == "cpu"; });
}

bool only_software_devices() {
  return std::ranges::all_of(listed_devices(), [](const auto& each) { return each.type == "cpu"; });
}

}  // namespace kbench::testing
