#include "harness/vulkan/device.h"
#include "harness/vulkan/plan.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"

namespace kbench {
namespace {

std::string type_name(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return "virtual";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return "cpu";
    default:
      return "other";
  }
}

std::string version_text(uint32_t version) {
  return std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
         std::to_string(VK_API_VERSION_MINOR(version)) + "." +
         std::to_string(VK_API_VERSION_PATCH(version));
}

}  // namespace

std::vector<DeviceSummary> list_devices() {
  std::vector<DeviceSummary> result;
  for (const vulkan::DeviceSnapshot& snapshot : vulkan::enumerate_devices()) {
    DeviceSummary summary;
    summary.index = snapshot.index;
    summary.name = snapshot.name;
    summary.driver = snapshot.driver;
    summary.type = type_name(snapshot.type);
    summary.api_version = version_text(snapshot.api_version);
    summary.memory_bytes = static_cast<int64_t>(snapshot.device_local_bytes);
    try {
      vulkan::plan_device(snapshot);
      summary.usable = true;
    } catch (const Error& e) {
      summary.reason = e.what();
    }
    result.push_back(std::move(summary));
  }
  return result;
}

}  // namespace kbench
