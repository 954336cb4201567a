// The functions of the Vulkan loader (libvulkan.so.1), which is opened at run time when a device is
// first used: commands that use no device work on machines without it.
#pragma once

#include <vulkan/vulkan.h>

namespace kbench::vulkan {

// clang-format off
#define KBENCH_VULKAN_FUNCTIONS(F) \
  F(vkAllocateCommandBuffers) F(vkAllocateDescriptorSets) F(vkAllocateMemory) \
  F(vkBeginCommandBuffer) F(vkBindBufferMemory) F(vkCmdBindDescriptorSets) F(vkCmdBindPipeline) \
  F(vkCmdCopyBuffer) F(vkCmdDispatch) F(vkCmdFillBuffer) F(vkCmdPipelineBarrier) \
  F(vkCmdPushConstants) F(vkCmdResetQueryPool) F(vkCmdWriteTimestamp) F(vkCreateBuffer) \
  F(vkCreateBufferView) F(vkCreateCommandPool) F(vkCreateComputePipelines) \
  F(vkCreateDescriptorPool) F(vkCreateDescriptorSetLayout) F(vkCreateDevice) F(vkCreateFence) \
  F(vkCreateInstance) F(vkCreatePipelineCache) F(vkCreatePipelineLayout) F(vkCreateQueryPool) \
  F(vkCreateShaderModule) F(vkDestroyBuffer) F(vkDestroyBufferView) F(vkDestroyCommandPool) \
  F(vkDestroyDescriptorPool) F(vkDestroyDescriptorSetLayout) F(vkDestroyDevice) \
  F(vkDestroyFence) F(vkDestroyInstance) F(vkDestroyPipeline) F(vkDestroyPipelineCache) \
  F(vkDestroyPipelineLayout) F(vkDestroyQueryPool) F(vkDestroyShaderModule) \
  F(vkEndCommandBuffer) F(vkEnumerateDeviceExtensionProperties) \
  F(vkEnumerateInstanceExtensionProperties) F(vkEnumerateInstanceLayerProperties) \
  F(vkEnumerateInstanceVersion) F(vkEnumeratePhysicalDevices) F(vkFreeMemory) \
  F(vkGetBufferDeviceAddress) F(vkGetBufferMemoryRequirements) F(vkGetDeviceProcAddr) \
  F(vkGetDeviceQueue) F(vkGetFenceStatus) F(vkGetInstanceProcAddr) \
  F(vkGetPhysicalDeviceExternalBufferProperties) F(vkGetPhysicalDeviceFeatures2) \
  F(vkGetPhysicalDeviceFormatProperties) F(vkGetPhysicalDeviceMemoryProperties) \
  F(vkGetPhysicalDeviceMemoryProperties2) F(vkGetPhysicalDeviceProperties) \
  F(vkGetPhysicalDeviceProperties2) F(vkGetPhysicalDeviceQueueFamilyProperties) \
  F(vkGetPipelineCacheData) F(vkGetQueryPoolResults) F(vkMapMemory) F(vkQueueSubmit) \
  F(vkResetCommandPool) F(vkResetDescriptorPool) F(vkResetFences) F(vkUpdateDescriptorSets) \
  F(vkWaitForFences)
// clang-format on

/// Pointers by the names of Vulkan's functions; null until load_functions() has returned.
#define KBENCH_DECLARE_VULKAN_FUNCTION(name) extern PFN_##name name;
KBENCH_VULKAN_FUNCTIONS(KBENCH_DECLARE_VULKAN_FUNCTION)
#undef KBENCH_DECLARE_VULKAN_FUNCTION

/// Opens the loader, libvulkan.so.1 or what KBENCH_VULKAN_LOADER names, unless it is open. Throws
/// kUnsupported where it cannot be opened. Thread-safe.
void load_functions();

}  // namespace kbench::vulkan
