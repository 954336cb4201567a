#include "harness/client/device_list.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "harness/client/judge_client.h"
#include "harness/client/program_path.h"
#include "harness/process/deadline.h"
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

namespace client {

std::vector<vulkan::DeviceSnapshot> list_snapshots(const std::string& program) {
  LineProcess lister(program_path(program), {"list-devices-process"});
  constexpr double kSeconds = 60;
  constexpr std::chrono::milliseconds kLookEvery(20);
  process::Deadline deadline(kSeconds);
  for (;;) {
    const auto line = lister.read_line(kLookEvery);
    if (line && line->first == "devices") return snapshots_from_json(line->second);
    if (line && line->first == "error") throw error_from_json(line->second);
    if (!line && lister.ended()) {
      const process::Exit exit = lister.process().finish(std::chrono::milliseconds(2000));
      throw Error(ErrorCode::kInternal,
                  "a Vulkan driver ended the process that listed its devices: " + describe(exit));
    }
    if (deadline.passed()) {
      throw Error(ErrorCode::kTimeout, "a Vulkan driver does not list its devices within a minute");
    }
  }
}

int run_device_lister() {
  if (fcntl(kAnswerDescriptor, F_GETFD) < 0) {
    std::fputs("kbench: 'list-devices' is for kbench's own use; see kbench devices\n", stderr);
    return 2;
  }
  std::string line;
  try {
    line = "devices " + to_json(vulkan::enumerate_devices()) + "\n";
  } catch (const Error& e) {
    line = "error " + to_json(e) + "\n";
  }
  for (size_t written = 0; written < line.size();) {
    const ssize_t n = write(kAnswerDescriptor, line.data() + written, line.size() - written);
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  _exit(0);  // A driver's own clean-up is of no interest.
}

}  // namespace client

std::vector<DeviceSummary> list_devices(const std::string& program) {
  std::vector<DeviceSummary> result;
  for (const vulkan::DeviceSnapshot& snapshot : client::list_snapshots(program)) {
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
