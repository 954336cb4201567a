#include "harness/measure/vulkan/plan.h"

#include <algorithm>
#include <optional>

#include "harness/measure/vulkan/cooperative_matrix.h"
#include "harness/measure/vulkan/features.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench::vulkan {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

/// Vulkan does not report cache sizes: several times the largest last-level cache of such devices.
uint64_t flush_bytes(const DeviceSnapshot& snapshot) {
  uint64_t bytes = 64 * kMiB;
  if (snapshot.type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU) bytes = 256 * kMiB;
  if (snapshot.software()) bytes = 32 * kMiB;
  return std::max(std::min(bytes, snapshot.device_local_bytes / 8), kMiB);
}

const DeviceSnapshot* by_index(const std::vector<DeviceSnapshot>& devices, int index) {
  for (const DeviceSnapshot& device : devices) {
    if (device.index == index) return &device;
  }
  return nullptr;
}

const DeviceSnapshot* by_uuid(const std::vector<DeviceSnapshot>& devices,
                              std::string_view selector) {
  std::string wanted = lowered(selector);
  if (wanted.starts_with("gpu-")) wanted.erase(0, 4);  // as nvidia-smi writes it
  for (const DeviceSnapshot& device : devices) {
    if (to_string(device.device_uuid) == wanted) return &device;
  }
  return nullptr;
}

const DeviceSnapshot* by_name(const std::vector<DeviceSnapshot>& devices, std::string_view part) {
  for (const DeviceSnapshot& device : devices) {
    if (!part.empty() && lowered(device.name).find(lowered(part)) != std::string::npos)
      return &device;
  }
  return nullptr;
}

/// A number is always an index, never a part of a name ("2" would match "256 bits").
std::optional<int> as_index(std::string_view selector) {
  int index = 0;
  return read_number(selector, index) ? std::optional(index) : std::nullopt;
}

const DeviceSnapshot* by_type(const std::vector<DeviceSnapshot>& devices) {
  for (const VkPhysicalDeviceType type :
       {VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
        VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, VK_PHYSICAL_DEVICE_TYPE_OTHER,
        VK_PHYSICAL_DEVICE_TYPE_CPU}) {
    for (const DeviceSnapshot& device : devices) {
      if (device.type != type) continue;
      try {
        plan_device(device);
        return &device;
      } catch (const Error&) {
        // kbench cannot use this one; it tries the next
      }
    }
  }
  return nullptr;
}

std::string listing(const std::vector<DeviceSnapshot>& devices) {
  std::string text;
  for (const DeviceSnapshot& device : devices) {
    text += (text.empty() ? "" : ", ") + std::to_string(device.index) + ": " + device.name;
  }
  return text;
}

/// A CPU device shares host memory: it can be mapped read-only, and holds nothing of the driver's.
/// A GPU shares device memory, by descriptor.
Sharing choose_sharing(const DeviceSnapshot& snapshot) {
  if (snapshot.software() && snapshot.shares_host_pointers) return Sharing::host_pointer;
  return snapshot.shares_descriptors ? Sharing::descriptor : Sharing::none;
}

}  // namespace

DevicePlan plan_device(const DeviceSnapshot& snapshot) {
  const auto require = [&snapshot](bool offered, const char* what) {
    if (offered) return;
    throw Error(ErrorCode::kUnsupported,
                "device '" + snapshot.name + "' lacks " + what + ", which kbench needs");
  };
  require(snapshot.api_version >= VK_API_VERSION_1_2, "Vulkan 1.2");
  const auto family = std::find_if(
      snapshot.queues.begin(), snapshot.queues.end(),
      [](const QueueFamily& queue) { return queue.compute && queue.timestamp_bits > 0; });
  require(family != snapshot.queues.end(), "a compute queue with timestamps");
  require(snapshot.timestamp_period_ns > 0, "a timestamp period");
  require(snapshot.buffer_device_address, "buffer device addresses (bufferDeviceAddress)");
  require(snapshot.shader_int64, "64-bit integers in shaders (shaderInt64)");

  const Sharing sharing = choose_sharing(snapshot);
  require(sharing != Sharing::none,
          snapshot.software()
              ? "memory that two processes can share, neither as a host pointer "
                "(VK_EXT_external_memory_host) nor by descriptor (VK_KHR_external_memory_fd)"
              : "memory that two processes can share by descriptor (VK_KHR_external_memory_fd)");

  DevicePlan plan;
  plan.sharing = sharing;
  plan.queue_family = family->index;
  plan.timestamp_mask =
      family->timestamp_bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << family->timestamp_bits) - 1;
  plan.timestamp_period_ns = snapshot.timestamp_period_ns;
  plan.float64 = snapshot.shader_float64;
  plan.float16 = snapshot.shader_float16;
  plan.int16 = snapshot.shader_int16;
  plan.int8 = snapshot.shader_int8;
  plan.storage_16bit = snapshot.storage_16bit;
  plan.storage_8bit = snapshot.storage_8bit;
  plan.scalar_layout = snapshot.scalar_block_layout;
  plan.storage_image_formats = snapshot.storage_image_formats;
  plan.storage_image_read = snapshot.storage_image_read;
  plan.storage_image_write = snapshot.storage_image_write;
  plan.memory_model = snapshot.vulkan_memory_model;
  plan.memory_model_device_scope = plan.memory_model && snapshot.memory_model_device_scope;
  plan.subgroup_size_control = snapshot.subgroup_size_control;
  plan.full_subgroups = plan.subgroup_size_control && snapshot.full_subgroups;
  plan.synchronization2 = snapshot.synchronization2;
  plan.cooperative_matrix = snapshot.cooperative_matrix && plan.memory_model;
  plan.cooperative_matrix_nv = snapshot.cooperative_matrix_nv && plan.memory_model;
  plan.bfloat16_matrices = snapshot.bfloat16_matrices && plan.cooperative_matrix;
  plan.float_atomics = snapshot.float_atomics;
  plan.flush_bytes = flush_bytes(snapshot);

  const auto extend = [&](bool wanted, const char* extension) {
    if (wanted && snapshot.has_extension(extension)) plan.extensions.push_back(extension);
  };
  extend(true, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  extend(sharing == Sharing::descriptor, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  extend(sharing == Sharing::host_pointer, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  extend(plan.subgroup_size_control, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  extend(plan.synchronization2, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME);
  extend(plan.cooperative_matrix, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
  extend(plan.cooperative_matrix_nv, VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME);
  extend(plan.bfloat16_matrices, VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME);
  // The second extension builds on the first.
  extend(plan.float_atomics != 0, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
  extend((plan.float_atomics & kFloat16Atomics) != 0, VK_EXT_SHADER_ATOMIC_FLOAT_2_EXTENSION_NAME);
  return plan;
}

const DeviceSnapshot& choose_device(const std::vector<DeviceSnapshot>& devices,
                                    std::string_view selector) {
  if (devices.empty()) {
    throw Error(ErrorCode::kNotFound,
                "no Vulkan device: install the GPU's driver, or Mesa's lavapipe to run on the CPU "
                "(Debian: mesa-vulkan-drivers)");
  }
  if (selector == "auto") {
    if (const DeviceSnapshot* device = by_type(devices)) return *device;
    if (devices.size() == 1) return devices.front();  // opening it says what it lacks
    throw Error(ErrorCode::kNotFound, "none of the Vulkan devices can run kbench (" +
                                          listing(devices) +
                                          "): choose one with --device to see what it lacks");
  }
  if (selector == "cpu") {
    for (const DeviceSnapshot& device : devices) {
      if (device.software()) return device;
    }
  } else if (const std::optional<int> index = as_index(selector)) {
    if (const DeviceSnapshot* device = by_index(devices, *index)) return *device;
  } else if (const DeviceSnapshot* device = by_uuid(devices, selector)) {
    return *device;
  } else if (const DeviceSnapshot* device = by_name(devices, selector)) {
    return *device;
  }
  throw Error(ErrorCode::kNotFound,
              "no device '" + std::string(selector) + "': there is " + listing(devices));
}

}  // namespace kbench::vulkan
