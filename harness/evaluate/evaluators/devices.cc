#include "harness/evaluate/evaluators/devices.h"

#include <algorithm>

#include "harness/measure/vulkan/plan.h"
#include "kbench/error.h"

namespace kbench::evaluators {
namespace {

bool usable(const vulkan::DeviceSnapshot& device) {
  try {
    vulkan::plan_device(device);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<vulkan::DeviceSnapshot> all_of(const std::vector<vulkan::DeviceSnapshot>& devices) {
  std::vector<vulkan::DeviceSnapshot> chosen;
  for (const vulkan::DeviceSnapshot& device : devices) {
    if (!device.software() && usable(device)) chosen.push_back(device);
  }
  if (chosen.empty()) chosen.push_back(vulkan::choose_device(devices, "auto"));
  return chosen;
}

}  // namespace

std::vector<vulkan::DeviceSnapshot> choose_devices(
    const std::vector<vulkan::DeviceSnapshot>& devices, std::string_view text) {
  if (text == "all") return all_of(devices);
  std::vector<vulkan::DeviceSnapshot> chosen;
  for (std::string_view rest = text;;) {
    const std::string_view one = rest.substr(0, rest.find(','));
    if (one.empty()) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "--devices takes all, or devices divided by commas, not '" + std::string(text) + "'");
    }
    const vulkan::DeviceSnapshot& device = vulkan::choose_device(devices, one);
    vulkan::plan_device(device);
    if (std::ranges::any_of(chosen, [&](const auto& each) { return each.index == device.index; })) {
      throw Error(ErrorCode::kInvalidArgument, "--devices " + std::string(text) + " names " +
                                                   device.name + " (" +
                                                   std::to_string(device.index) + ") twice");
    }
    chosen.push_back(device);
    if (one.size() == rest.size()) return chosen;
    rest.remove_prefix(one.size() + 1);
  }
}

std::string selector_of(const vulkan::DeviceSnapshot& device,
                        const std::vector<vulkan::DeviceSnapshot>& devices) {
  const auto same =
      std::ranges::count(devices, device.device_uuid, &vulkan::DeviceSnapshot::device_uuid);
  return same == 1 ? vulkan::to_string(device.device_uuid) : std::to_string(device.index);
}

}  // namespace kbench::evaluators
