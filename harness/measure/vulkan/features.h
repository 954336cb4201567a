// The chain of feature structures that kbench asks a device for and enables, and atomic operations
// on floats, as VK_EXT_shader_atomic_float and, of 16 bits, VK_EXT_shader_atomic_float2 offer them
// one by one.
#pragma once

#include <vulkan/vulkan.h>

#include <array>
#include <cstdint>

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

struct FloatAtomic {
  const char* feature;  ///< Vulkan's name
  const char* text;     ///< for messages
  VkBool32 VkPhysicalDeviceShaderAtomicFloatFeaturesEXT::*member;
  /// In place of `member`, of floats of 16 bits.
  VkBool32 VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT::*member_2 = nullptr;
};

/// Those that kernels can use. Sets of them are bit masks, bit i for entry i; float_atomic() and
/// float16_atomic() rely on their order.
inline constexpr std::array<FloatAtomic, 12> kFloatAtomics = {{
    {"shaderBufferFloat32Atomics", "atomic access to 32-bit floats in buffers",
     &VkPhysicalDeviceShaderAtomicFloatFeaturesEXT::shaderBufferFloat32Atomics},
    {"shaderBufferFloat32AtomicAdd", "atomic adds to 32-bit floats in buffers",
     &VkPhysicalDeviceShaderAtomicFloatFeaturesEXT::shaderBufferFloat32AtomicAdd},
    {"shaderBufferFloat64Atomics", "atomic access to 64-bit floats in buffers",
     &VkPhysicalDeviceShaderAtomicFloatFeaturesEXT::shaderBufferFloat64Atomics},
    {"shaderBufferFloat64AtomicAdd", "atomic adds to 64-bit floats in buffers",
     &VkPhysicalDeviceShaderAtomicFloatFeaturesEXT::shaderBufferFloat64AtomicAdd},
    {"shaderSharedFloat32Atomics", "atomic access to 32-bit floats in shared memory",
     &VkPhysicalDeviceShaderAtomicFloatFeaturesEXT::shaderSharedFloat32Atomics},
    {"shaderSharedFloat32AtomicAdd", "atomic adds to 32-bit floats in shared memory",
     &VkPhysicalDeviceShaderAtomicFloatFeaturesEXT::shaderSharedFloat32AtomicAdd},
    {"shaderSharedFloat64Atomics", "atomic access to 64-bit floats in shared memory",
     &VkPhysicalDeviceShaderAtomicFloatFeaturesEXT::shaderSharedFloat64Atomics},
    {"shaderSharedFloat64AtomicAdd", "atomic adds to 64-bit floats in shared memory",
     &VkPhysicalDeviceShaderAtomicFloatFeaturesEXT::shaderSharedFloat64AtomicAdd},
    {"shaderBufferFloat16Atomics", "atomic access to 16-bit floats in buffers", nullptr,
     &VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT::shaderBufferFloat16Atomics},
    {"shaderBufferFloat16AtomicAdd", "atomic adds to 16-bit floats in buffers", nullptr,
     &VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT::shaderBufferFloat16AtomicAdd},
    {"shaderSharedFloat16Atomics", "atomic access to 16-bit floats in shared memory", nullptr,
     &VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT::shaderSharedFloat16Atomics},
    {"shaderSharedFloat16AtomicAdd", "atomic adds to 16-bit floats in shared memory", nullptr,
     &VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT::shaderSharedFloat16AtomicAdd},
}};

/// The mask of one operation: in shared memory or else in buffers; on floats of 64 or else 32 bits;
/// an add, or else a load, store or exchange.
constexpr uint32_t float_atomic(bool shared, bool wide, bool adds) {
  return uint32_t{1} << (4 * shared + 2 * wide + adds);
}
/// The same of floats of 16 bits.
constexpr uint32_t float16_atomic(bool shared, bool adds) {
  return uint32_t{1} << (8 + 2 * shared + adds);
}
/// All of those.
inline constexpr uint32_t kFloat16Atomics =
    float16_atomic(false, false) | float16_atomic(false, true) | float16_atomic(true, false) |
    float16_atomic(true, true);

}  // namespace kbench::vulkan
