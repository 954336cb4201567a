#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/program/help.h"
#include "harness/program/text.h"
#include "harness/program/verbs.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"

namespace kbench::program {
namespace {

int run_devices(bool json) {
  const std::vector<DeviceSummary> devices = list_devices();
  if (json) {
    nlohmann::ordered_json document = nlohmann::ordered_json::array();
    for (const DeviceSummary& device : devices) {
      document.push_back({{"index", device.index},
                          {"name", device.name},
                          {"type", device.type},
                          {"driver", device.driver},
                          {"api_version", device.api_version},
                          {"memory_bytes", device.memory_bytes},
                          {"usable", device.usable},
                          {"reason", device.reason}});
    }
    std::printf("%s\n",
                document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return kDone;
  }
  if (devices.empty()) {
    throw Error(
        ErrorCode::kNotFound,
        "no Vulkan device: install a driver (Debian's mesa-vulkan-drivers has one that runs "
        "on the CPU), or point VK_DRIVER_FILES at its .json");
  }
  std::vector<std::vector<std::string>> rows = {
      {"index", "name", "type", "memory", "Vulkan", "driver", "usable"}};
  for (const DeviceSummary& device : devices) {
    rows.push_back({std::to_string(device.index), device.name, device.type,
                    format_bytes(double(device.memory_bytes)), device.api_version, device.driver,
                    device.usable ? "yes" : "no: " + device.reason});
  }
  std::fputs(format_table(rows).c_str(), stdout);
  return kDone;
}

}  // namespace

Verb add_devices(CLI::App& program) {
  auto json = std::make_shared<bool>(false);
  CLI::App* app = add_verb(
      program, "devices", "The Vulkan devices of this machine",
      "Lists the Vulkan devices of this machine, and why one cannot be used where that is so. "
      "What\n"
      "stands under index or name (a part of it is enough) goes to --device of the other verbs.",
      "  kbench devices\n"
      "  kbench --device 0\n"
      "  kbench --device cpu");
  app->add_flag("--json", *json, "A JSON list on standard output")->group("Output");
  return {app, [json] { return run_devices(*json); }};
}

}  // namespace kbench::program
