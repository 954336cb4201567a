#include "harness/measure/vulkan/snapshot.h"

#include <unistd.h>

#include <algorithm>

#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/features.h"
#include "harness/measure/vulkan/functions.h"
#include "harness/measure/vulkan/instance.h"
#include "harness/measure/vulkan/texels.h"
#include "libkbench/base/hash.h"

namespace kbench::vulkan {

namespace {

void read_queues(VkPhysicalDevice device, DeviceSnapshot& snapshot) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  for (uint32_t i = 0; i < count; ++i) {
    const VkQueueFamilyProperties& family = families[i];
    snapshot.queues.push_back({.index = i,
                               .compute = (family.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0,
                               .timestamp_bits = family.timestampValidBits});
  }
}

void read_extensions(VkPhysicalDevice device, DeviceSnapshot& snapshot) {
  uint32_t count = 0;
  KBENCH_VK(vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr));
  std::vector<VkExtensionProperties> extensions(count);
  KBENCH_VK(vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data()));
  for (const VkExtensionProperties& extension : extensions) {
    snapshot.extensions.emplace_back(extension.extensionName);
  }
}

void read_limits(const VkPhysicalDeviceProperties& properties, DeviceSnapshot& snapshot) {
  snapshot.name = properties.deviceName;
  snapshot.type = properties.deviceType;
  snapshot.api_version = properties.apiVersion;
  const VkPhysicalDeviceLimits& limits = properties.limits;
  snapshot.max_storage_buffer_range = limits.maxStorageBufferRange;
  snapshot.max_push_constants = limits.maxPushConstantsSize;
  snapshot.max_shared_memory = limits.maxComputeSharedMemorySize;
  snapshot.max_invocations = limits.maxComputeWorkGroupInvocations;
  std::copy_n(limits.maxComputeWorkGroupCount, 3, snapshot.max_group_count.begin());
  std::copy_n(limits.maxComputeWorkGroupSize, 3, snapshot.max_group_size.begin());
  snapshot.max_storage_buffers_per_stage = limits.maxPerStageDescriptorStorageBuffers;
  snapshot.storage_offset_alignment = limits.minStorageBufferOffsetAlignment;
  snapshot.max_uniform_buffer_range = limits.maxUniformBufferRange;
  snapshot.max_uniform_buffers_per_stage = limits.maxPerStageDescriptorUniformBuffers;
  snapshot.uniform_offset_alignment = limits.minUniformBufferOffsetAlignment;
  snapshot.max_texel_buffer_elements = limits.maxTexelBufferElements;
  snapshot.texel_offset_alignment = limits.minTexelBufferOffsetAlignment;
  snapshot.max_sampled_images_per_stage = limits.maxPerStageDescriptorSampledImages;
  snapshot.max_storage_images_per_stage = limits.maxPerStageDescriptorStorageImages;
  snapshot.timestamp_period_ns = limits.timestampPeriod;
}

bool has_subgroup_size_control(const DeviceSnapshot& snapshot) {
  return snapshot.api_version >= VK_API_VERSION_1_3 ||
         snapshot.has_extension(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
}

/// The properties that Vulkan 1.2 reports in its chained structures.
void read_properties(VkPhysicalDevice device, DeviceSnapshot& snapshot) {
  VkPhysicalDeviceVulkan11Properties v11{};
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  VkPhysicalDeviceVulkan12Properties v12{};
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  v12.pNext = &v11;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &v12;

  VkPhysicalDeviceMaintenance4Properties maintenance4{};
  maintenance4.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES;
  const bool has_maintenance4 = snapshot.api_version >= VK_API_VERSION_1_3 ||
                                snapshot.has_extension(VK_KHR_MAINTENANCE_4_EXTENSION_NAME);
  if (has_maintenance4) {
    maintenance4.pNext = properties.pNext;
    properties.pNext = &maintenance4;
  }
  VkPhysicalDeviceSubgroupSizeControlProperties subgroup{};
  subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
  if (has_subgroup_size_control(snapshot)) {
    subgroup.pNext = properties.pNext;
    properties.pNext = &subgroup;
  }
  vkGetPhysicalDeviceProperties2(device, &properties);

  snapshot.driver = v12.driverName;
  if (v12.driverInfo[0] != '\0') snapshot.driver += std::string(" ") + v12.driverInfo;
  std::copy_n(v11.deviceUUID, VK_UUID_SIZE, snapshot.device_uuid.begin());
  std::copy_n(v11.driverUUID, VK_UUID_SIZE, snapshot.driver_uuid.begin());
  // Without maintenance4 nothing states a largest buffer: creating one then tells.
  snapshot.max_buffer = has_maintenance4 ? maintenance4.maxBufferSize : UINT64_MAX;
  snapshot.float16_conversions =
      v12.shaderRoundingModeRTEFloat16 && v12.shaderDenormPreserveFloat16 &&
      v12.roundingModeIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL &&
      v12.denormBehaviorIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
  snapshot.subgroup_size = v11.subgroupSize;
  snapshot.subgroup_operations = v11.subgroupSupportedOperations;
  snapshot.min_subgroup_size = snapshot.max_subgroup_size = v11.subgroupSize;
  if (subgroup.maxSubgroupSize > 0) {
    snapshot.min_subgroup_size = subgroup.minSubgroupSize;
    snapshot.max_subgroup_size = subgroup.maxSubgroupSize;
    snapshot.required_subgroup_stages = subgroup.requiredSubgroupSizeStages;
    snapshot.max_subgroups_per_group = subgroup.maxComputeWorkgroupSubgroups;
  }
}

/// Products of a subgroup that the driver lists.
std::vector<VkCooperativeMatrixPropertiesKHR> list_matrices(VkInstance instance,
                                                            VkPhysicalDevice device) {
  const auto list = reinterpret_cast<PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR>(
      vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  if (!list) return {};
  uint32_t count = 0;
  KBENCH_VK(list(device, &count, nullptr));
  std::vector<VkCooperativeMatrixPropertiesKHR> found(count);
  for (auto& each : found) each.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
  KBENCH_VK(list(device, &count, found.data()));
  found.resize(count);
  return found;
}

void read_matrices(VkInstance instance, VkPhysicalDevice device, bool bfloat16,
                   DeviceSnapshot& snapshot) {
  for (const VkCooperativeMatrixPropertiesKHR& each : list_matrices(instance, device)) {
    if (each.scope != VK_SCOPE_SUBGROUP_KHR || each.saturatingAccumulation || each.MSize != 16 ||
        each.NSize != 16 || each.KSize != 16 || each.AType != each.BType ||
        each.CType != VK_COMPONENT_TYPE_FLOAT32_KHR ||
        each.ResultType != VK_COMPONENT_TYPE_FLOAT32_KHR) {
      continue;
    }
    if (each.AType == VK_COMPONENT_TYPE_FLOAT16_KHR) snapshot.float16_matrices = true;
    if (each.AType == VK_COMPONENT_TYPE_BFLOAT16_KHR) snapshot.bfloat16_matrices = bfloat16;
  }
}

void read_features(VkInstance instance, VkPhysicalDevice device, DeviceSnapshot& snapshot) {
  FeatureChain chain(
      {.subgroup_size_control = has_subgroup_size_control(snapshot),
       .synchronization2 = snapshot.api_version >= VK_API_VERSION_1_3 ||
                           snapshot.has_extension(VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME),
       .cooperative_matrix = snapshot.has_extension(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME),
       .cooperative_matrix_nv = snapshot.has_extension(VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME),
       .bfloat16 = snapshot.has_extension(VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME),
       .float_atomics = snapshot.has_extension(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME),
       .float16_atomics = snapshot.has_extension(VK_EXT_SHADER_ATOMIC_FLOAT_2_EXTENSION_NAME)});
  vkGetPhysicalDeviceFeatures2(device, &chain.core);
  const VkPhysicalDeviceFeatures& core = chain.core.features;
  snapshot.shader_int64 = core.shaderInt64;
  snapshot.shader_int16 = core.shaderInt16;
  snapshot.shader_float64 = core.shaderFloat64;
  snapshot.storage_image_formats = core.shaderStorageImageExtendedFormats;
  snapshot.storage_image_read = core.shaderStorageImageReadWithoutFormat;
  snapshot.storage_image_write = core.shaderStorageImageWriteWithoutFormat;
  snapshot.storage_16bit = chain.v11.storageBuffer16BitAccess;
  snapshot.shader_int8 = chain.v12.shaderInt8;
  snapshot.shader_float16 = chain.v12.shaderFloat16;
  snapshot.storage_8bit = chain.v12.storageBuffer8BitAccess;
  snapshot.buffer_device_address = chain.v12.bufferDeviceAddress;
  snapshot.scalar_block_layout = chain.v12.scalarBlockLayout;
  snapshot.vulkan_memory_model = chain.v12.vulkanMemoryModel;
  snapshot.memory_model_device_scope = chain.v12.vulkanMemoryModelDeviceScope;
  snapshot.subgroup_size_control = chain.subgroup_size.subgroupSizeControl;
  snapshot.full_subgroups = chain.subgroup_size.computeFullSubgroups;
  snapshot.synchronization2 = chain.synchronization2.synchronization2;
  snapshot.cooperative_matrix = chain.matrix.cooperativeMatrix;
  snapshot.cooperative_matrix_nv = chain.matrix_nv.cooperativeMatrix;
  if (snapshot.cooperative_matrix) {
    const bool bfloat16 =
        chain.bfloat16.shaderBFloat16Type && chain.bfloat16.shaderBFloat16CooperativeMatrix;
    read_matrices(instance, device, bfloat16, snapshot);
  }
  for (size_t i = 0; i < kFloatAtomics.size(); ++i) {
    if (chain.float_atomic(i)) snapshot.float_atomics |= 1u << i;
  }
}

void read_texel_formats(VkPhysicalDevice device, DeviceSnapshot& snapshot) {
  for (const VkFormat format : known_texel_formats()) {
    VkFormatProperties properties{};
    vkGetPhysicalDeviceFormatProperties(device, format, &properties);
    if (properties.bufferFeatures & VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT) {
      snapshot.texel_formats.push_back(format);
    }
    if (properties.bufferFeatures & VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT) {
      snapshot.storage_texel_formats.push_back(format);
    }
  }
}

/// What the driver allows with external memory of this kind for buffers with kbench's usages.
VkExternalMemoryProperties external_memory(VkPhysicalDevice device,
                                           VkExternalMemoryHandleTypeFlagBits type) {
  VkPhysicalDeviceExternalBufferInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO;
  info.usage = kBufferUsage;
  info.handleType = type;
  VkExternalBufferProperties properties{};
  properties.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES;
  vkGetPhysicalDeviceExternalBufferProperties(device, &info, &properties);
  return properties.externalMemoryProperties;
}

void read_sharing(VkPhysicalDevice device, DeviceSnapshot& snapshot) {
  constexpr VkExternalMemoryFeatureFlags kBoth =
      VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  if (snapshot.has_extension(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME)) {
    const VkExternalMemoryFeatureFlags features =
        external_memory(device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT)
            .externalMemoryFeatures;
    snapshot.shares_descriptors = (features & kBoth) == kBoth;
    snapshot.dedicated_descriptors = features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
  }
  if (snapshot.has_extension(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
    const VkExternalMemoryFeatureFlags features =
        external_memory(device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT)
            .externalMemoryFeatures;
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{};
    host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &host;
    vkGetPhysicalDeviceProperties2(device, &properties);
    snapshot.shares_host_pointers =
        (features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) &&
        host.minImportedHostPointerAlignment <= static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
}

DeviceSnapshot read_snapshot(VkInstance instance, VkPhysicalDevice device, int index) {
  DeviceSnapshot snapshot;
  snapshot.index = index;
  VkPhysicalDeviceProperties properties{};
  vkGetPhysicalDeviceProperties(device, &properties);
  read_limits(properties, snapshot);
  read_texel_formats(device, snapshot);
  read_queues(device, snapshot);
  read_extensions(device, snapshot);
  if (snapshot.api_version >= VK_API_VERSION_1_2) {  // the chains below are Vulkan 1.2's
    read_properties(device, snapshot);
    read_features(instance, device, snapshot);
    read_sharing(device, snapshot);
  }
  snapshot.device_local_bytes = largest_device_heap(device, /*memory_budget=*/false).bytes;
  return snapshot;
}

}  // namespace

DeviceHeap largest_device_heap(VkPhysicalDevice device, bool memory_budget) {
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  if (memory_budget) {
    memory.pNext = &budget;
    vkGetPhysicalDeviceMemoryProperties2(device, &memory);
  } else {
    vkGetPhysicalDeviceMemoryProperties(device, &memory.memoryProperties);
  }
  DeviceHeap largest;
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory.memoryProperties.memoryHeaps[i];
    if (!(heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) || heap.size <= largest.bytes) continue;
    const uint64_t allowed = memory_budget ? budget.heapBudget[i] : heap.size;
    const uint64_t used = memory_budget ? budget.heapUsage[i] : 0;
    largest = {.bytes = heap.size,
               .free_bytes = allowed > used ? allowed - used : 0,
               .has_budget = memory_budget};
  }
  return largest;
}

std::vector<PhysicalDevice> list_physical_devices(const Instance& instance) {
  uint32_t count = 0;
  const VkResult counted = vkEnumeratePhysicalDevices(instance.handle(), &count, nullptr);
  // A loader without a working driver may say so only here.
  if (counted == VK_ERROR_INITIALIZATION_FAILED || count == 0) return {};
  check(counted, "vkEnumeratePhysicalDevices", __FILE__, __LINE__);
  std::vector<VkPhysicalDevice> handles(count);
  KBENCH_VK(vkEnumeratePhysicalDevices(instance.handle(), &count, handles.data()));
  std::vector<PhysicalDevice> devices;
  for (uint32_t i = 0; i < count; ++i) {
    devices.push_back(
        {handles[i], read_snapshot(instance.handle(), handles[i], static_cast<int>(i))});
  }
  return devices;
}

std::vector<DeviceSnapshot> enumerate_devices() {
  const std::unique_ptr<Instance> instance = Instance::create(false);
  std::vector<DeviceSnapshot> snapshots;
  if (instance) {
    for (PhysicalDevice& device : list_physical_devices(*instance)) {
      snapshots.push_back(std::move(device.snapshot));
    }
  }
  return snapshots;
}

std::string to_string(const Uuid& uuid) { return uuid_text(uuid); }

bool DeviceSnapshot::has_extension(std::string_view extension) const {
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

}  // namespace kbench::vulkan
