// The chain of feature structures that kbench asks a device for and enables.
#pragma once

#include "harness/measure/vulkan/cooperative_matrix.h"

namespace kbench::vulkan {

/// The structures zeroed and linked: always those of Vulkan 1.2, the others as asked for. An old
/// driver leaves a structure that it does not know untouched, so that its features read as absent.
struct FeatureChain {
  struct Optional {
    bool subgroup_size_control = false;
    bool synchronization2 = false;
    bool cooperative_matrix = false;
    bool cooperative_matrix_nv = false;
    bool bfloat16 = false;
    bool float_atomics = false;
    bool float16_atomics = false;
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
  VkPhysicalDeviceShaderBfloat16FeaturesKHR bfloat16{};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT float_atomics{};
  VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT float16_atomics{};

  /// The feature of an entry of kFloatAtomics.
  VkBool32& float_atomic(size_t entry);

 private:
  template <typename T>
  void link(T& structure, VkStructureType type);
};

}  // namespace kbench::vulkan
