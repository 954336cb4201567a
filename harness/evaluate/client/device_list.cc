#include "harness/evaluate/client/device_list.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "harness/evaluate/client/judge_client.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/features.h"
#include "harness/measure/vulkan/plan.h"
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

std::vector<vulkan::DeviceSnapshot> list_snapshots(const std::string& program, double seconds) {
  LineProcess lister(program_path(program), {"list-devices-process"});
  constexpr std::chrono::milliseconds kLookEvery(20);
  process::Deadline deadline(seconds);
  for (;;) {
    const auto line = lister.read_line(kLookEvery);
    if (line && line->first == "devices") return judge::snapshots_from_json(line->second);
    if (line && line->first == "error") throw judge::error_from_json(line->second);
    if (!line && lister.ended()) {
      const process::Exit exit = lister.process().finish(std::chrono::milliseconds(2000));
      throw Error(ErrorCode::kInternal,
                  "a Vulkan driver ended the process that listed its devices: " + describe(exit));
    }
    if (deadline.passed()) {
      throw Error(ErrorCode::kTimeout, "a Vulkan driver does not list its devices within " +
                                           std::to_string(std::lround(seconds)) + " s");
    }
  }
}

namespace {

DeviceLimits limits_of(const vulkan::DeviceSnapshot& snapshot, const vulkan::DevicePlan& plan) {
  DeviceLimits limits;
  for (size_t d = 0; d < 3; ++d) {
    limits.group_size[d] = snapshot.max_group_size[d];
    limits.group_count[d] = snapshot.max_group_count[d];
  }
  limits.invocations = snapshot.max_invocations;
  limits.shared_bytes = snapshot.max_shared_memory;
  limits.binding_range = static_cast<int64_t>(snapshot.max_storage_buffer_range);
  limits.subgroup_size = snapshot.subgroup_size;
  limits.min_subgroup_size = snapshot.min_subgroup_size;
  limits.max_subgroup_size = snapshot.max_subgroup_size;
  limits.subgroup_arithmetic = snapshot.subgroup_operations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
  limits.subgroup_shuffle = snapshot.subgroup_operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  limits.float16 = plan.float16;
  limits.float64 = plan.float64;
  limits.storage_16bit = plan.storage_16bit;
  limits.cooperative_matrix = plan.cooperative_matrix || plan.cooperative_matrix_nv;
  limits.float_atomics = plan.float_atomics & vulkan::float_atomic(false, false, true);
  return limits;
}

}  // namespace

DeviceSummary summary_of(const vulkan::DeviceSnapshot& snapshot) {
  DeviceSummary summary;
  summary.index = snapshot.index;
  summary.name = snapshot.name;
  summary.driver = snapshot.driver;
  summary.type = type_name(snapshot.type);
  summary.api_version = version_text(snapshot.api_version);
  summary.memory_bytes = static_cast<int64_t>(snapshot.device_local_bytes);
  try {
    const vulkan::DevicePlan plan = vulkan::plan_device(snapshot);
    summary.usable = true;
    summary.limits = limits_of(snapshot, plan);
  } catch (const Error& e) {
    summary.reason = e.what();
  }
  return summary;
}

namespace {

namespace fs = std::filesystem;

bool executable(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string program_path(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  const char* from_environment = std::getenv("KBENCH_PROGRAM");
  if (from_environment != nullptr && *from_environment != '\0') return from_environment;
  constexpr const char* kSelf = "/proc/self/exe";
  std::error_code ignored;
  const fs::path self = fs::read_symlink(kSelf, ignored);
  // By the link, not by what it says: the file may have been replaced since this program started.
  if (self.filename() == "kbench" || self.filename() == "kbench (deleted)") return kSelf;
  if (const fs::path beside = self.parent_path() / "kbench"; executable(beside)) {
    return beside.string();
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / "kbench";
    if (executable(candidate)) return candidate.string();
  }
  throw Error(ErrorCode::kNotFound,
              "no kbench program to judge with: put it on PATH, or name it by KBENCH_PROGRAM");
}

}  // namespace client

std::vector<DeviceSummary> list_devices(const std::string& program) {
  std::vector<DeviceSummary> result;
  for (const vulkan::DeviceSnapshot& snapshot : client::list_snapshots(program)) {
    result.push_back(client::summary_of(snapshot));
  }
  return result;
}

}  // namespace kbench
