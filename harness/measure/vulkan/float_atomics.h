// Atomic operations on floats, as VK_EXT_shader_atomic_float offers them one by one.
#pragma once

#include <vulkan/vulkan.h>

#include <array>
#include <cstdint>

namespace kbench::vulkan {

struct FloatAtomic {
  const char* feature;  ///< Vulkan's name
  const char* text;     ///< for messages
  VkBool32 VkPhysicalDeviceShaderAtomicFloatFeaturesEXT::*member;
};

/// Those that kernels can use. Sets of them are bit masks, bit i for entry i; float_atomic() relies
/// on their order.
inline constexpr std::array<FloatAtomic, 8> kFloatAtomics = {{
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
}};

/// The mask of one operation: in shared memory or else in buffers; on floats of 64 or else 32 bits;
/// an add, or else a load, store or exchange.
constexpr uint32_t float_atomic(bool shared, bool wide, bool adds) {
  return uint32_t{1} << (4 * shared + 2 * wide + adds);
}

}  // namespace kbench::vulkan
