// What kbench enables on a device, decided from a snapshot alone: testable without a GPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"

namespace kbench::vulkan {

/// How processes share device memory.
enum class Sharing {
  none,
  descriptor,    ///< exported and imported as a file descriptor (VK_KHR_external_memory_fd)
  host_pointer,  ///< a memfd imported in both as host memory (VK_EXT_external_memory_host)
};

struct DevicePlan {
  uint32_t queue_family = 0;
  uint64_t timestamp_mask = 0;  ///< valid bits of the queue family's timestamps
  double timestamp_period_ns = 1;
  bool float64 = false, float16 = false, int16 = false, int8 = false;
  bool storage_16bit = false, storage_8bit = false, scalar_layout = false;
  bool storage_image_formats = false, storage_image_read = false, storage_image_write = false;
  bool memory_model = false, memory_model_device_scope = false;
  bool subgroup_size_control = false, full_subgroups = false;
  bool synchronization2 = false;
  bool cooperative_matrix = false, cooperative_matrix_nv = false;
  bool bfloat16_matrices = false;  ///< for kbench's own kernels: candidates' are not understood yet
  uint32_t float_atomics = 0;      ///< a set of features.h
  Sharing sharing = Sharing::none;      ///< never none in a plan that plan_device() returned
  std::vector<const char*> extensions;  ///< names of static storage
  uint64_t flush_bytes = 0;             ///< written between runs so that caches are cold
};

/// Throws Error(kUnsupported) naming the device and the missing feature: kbench needs Vulkan 1.2, a
/// compute queue with timestamps, buffer device addresses, 64-bit integers in shaders, and memory
/// that two processes can share.
DevicePlan plan_device(const DeviceSnapshot& snapshot);

/// Chooses among devices: an index, a device UUID as to_string() writes it (case-insensitive, with
/// or without "GPU-" before it), part of a name (case-insensitive), "cpu", or "auto" (the first
/// discrete, then integrated, virtual, other, then CPU device that plan_device accepts). Throws
/// Error(kNotFound) that lists what is there.
const DeviceSnapshot& choose_device(const std::vector<DeviceSnapshot>& devices,
                                    std::string_view selector);

}  // namespace kbench::vulkan
