// What a Vulkan device offers, read once into plain values: testable without a GPU.
#pragma once

#include <vulkan/vulkan.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kbench::vulkan {

struct QueueFamily {
  uint32_t index = 0;
  bool compute = false;
  uint32_t timestamp_bits = 0;
};

using Uuid = std::array<uint8_t, VK_UUID_SIZE>;
/// "00112233-4455-6677-8899-aabbccddeeff".
std::string to_string(const Uuid& uuid);

struct DeviceSnapshot {
  int index = 0;  ///< position in the loader's enumeration
  std::string name, driver;
  /// The same in every process and every API (VkPhysicalDeviceIDProperties). Processes may share
  /// memory when both agree.
  Uuid device_uuid{}, driver_uuid{};
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  uint32_t api_version = 0;
  std::vector<QueueFamily> queues;
  std::vector<std::string> extensions;

  // limits
  uint64_t max_storage_buffer_range = 0;
  uint64_t max_buffer = 0;
  uint64_t device_local_bytes = 0;  ///< largest device-local heap
  uint32_t max_push_constants = 0;
  uint32_t max_shared_memory = 0;
  uint32_t max_invocations = 0;
  std::array<uint32_t, 3> max_group_count{}, max_group_size{};
  uint32_t max_storage_buffers_per_stage = 0;
  uint64_t storage_offset_alignment = 0;
  uint64_t max_uniform_buffer_range = 0;
  uint32_t max_uniform_buffers_per_stage = 0;
  uint64_t uniform_offset_alignment = 0;
  uint64_t max_texel_buffer_elements = 0;
  uint64_t texel_offset_alignment = 0;
  uint32_t max_sampled_images_per_stage = 0, max_storage_images_per_stage = 0;
  double timestamp_period_ns = 0;
  uint32_t subgroup_size = 0, min_subgroup_size = 0, max_subgroup_size = 0;
  VkSubgroupFeatureFlags subgroup_operations = 0;
  VkShaderStageFlags required_subgroup_stages = 0;
  uint32_t max_subgroups_per_group = 0;  ///< 0: not told

  // features
  bool buffer_device_address = false;
  bool shader_int64 = false, shader_int16 = false, shader_int8 = false;
  bool shader_float64 = false, shader_float16 = false;
  bool storage_16bit = false, storage_8bit = false;
  /// Shaders may ask, of float16 alone, that conversions to it round to the nearest, ties to even,
  /// and that its subnormal numbers are kept.
  bool float16_conversions = false;
  bool scalar_block_layout = false;
  bool storage_image_formats = false;  ///< more than those that every device has
  bool storage_image_read = false, storage_image_write = false;  ///< without naming a format
  std::vector<VkFormat> texel_formats = {};                      ///< of typed buffers that are read
  std::vector<VkFormat> storage_texel_formats = {};              ///< of those that are written, too
  bool vulkan_memory_model = false, memory_model_device_scope = false;
  bool subgroup_size_control = false, full_subgroups = false;
  bool synchronization2 = false;
  bool cooperative_matrix = false;     ///< VK_KHR_cooperative_matrix
  bool cooperative_matrix_nv = false;  ///< VK_NV_cooperative_matrix
  /// Which of KHR's matrices multiply 16 x 16 elements of the type by as many, with float32 sums.
  bool float16_matrices = false, bfloat16_matrices = false;
  uint32_t float_atomics = 0;  ///< a set of features.h

  // memory shared by processes, for buffers with kbench's usages
  bool shares_descriptors = false;     ///< can be exported and imported as an opaque descriptor
  bool dedicated_descriptors = false;  ///< which takes an allocation for one buffer alone
  bool shares_host_pointers = false;   ///< any page of host memory can be imported

  bool has_extension(std::string_view extension) const;

  bool software() const { return type == VK_PHYSICAL_DEVICE_TYPE_CPU; }

  /// Whether CUDA's driver starts in a locked-in process that opened the device
  /// (OpenOptions::cuda).
  bool makes_cuda_ready() const { return has_extension(VK_NVX_BINARY_IMPORT_EXTENSION_NAME); }
};

}  // namespace kbench::vulkan
