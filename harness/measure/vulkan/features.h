// The chain of feature structures that kbench asks a device for and enables.
#pragma once

#include "harness/measure/vulkan/cooperative_matrix.h"

namespace kbench::vulkan {

/// All zero and linked: the structures core Vulkan 1.2 knows always, the others when told to. An
/// old driver leaves a structure it does not know untouched, hence zero.
struct FeatureChain {
  struct Optional {
    bool subgroup_size_control = false;
    bool synchronization2 = false;
    bool cooperative_matrix = false;
    bool cooperative_matrix_nv = false;
    bool float_atomics = false;
  };
  explicit FeatureChain(const Optional& optional);
  FeatureChain(const FeatureChain&) = delete;

  VkPhysicalDeviceFeatures2 core{};
  VkPhysicalDeviceVulkan11Features v11{};
  VkPhysicalDeviceVulkan12Features v12{};
  VkPhysicalDeviceSubgroupSizeControlFeatures subgroup_size{};
  VkPhysicalDeviceSynchronization2Features synchronization2{};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrix{};
  VkPhysicalDeviceCooperativeMatrixFeaturesNV matrix_nv{};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT float_atomics{};

 private:
  template <typename T>
  void link(T& structure, VkStructureType type);
};

}  // namespace kbench::vulkan
