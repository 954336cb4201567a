#include "harness/measure/vulkan/features.h"

namespace kbench::vulkan {

template <typename T>
void FeatureChain::link(T& structure, VkStructureType type) {
  structure.sType = type;
  structure.pNext = core.pNext;
  core.pNext = &structure;
}

FeatureChain::FeatureChain(const Optional& optional) {
  core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  link(v11, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  link(v12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  if (optional.subgroup_size_control) {
    link(subgroup_size, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
  }
  if (optional.synchronization2) {
    link(synchronization2, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES);
  }
  if (optional.cooperative_matrix) {
    link(matrix, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  }
  if (optional.cooperative_matrix_nv) {
    link(matrix_nv, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV);
  }
  if (optional.bfloat16) {
    link(bfloat16, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR);
  }
  if (optional.float_atomics) {
    link(float_atomics, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT);
  }
  if (optional.float16_atomics) {
    link(float16_atomics, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_2_FEATURES_EXT);
  }
}

VkBool32& FeatureChain::float_atomic(size_t entry) {
  const FloatAtomic& atomic = kFloatAtomics[entry];
  return atomic.member_2 ? float16_atomics.*atomic.member_2 : float_atomics.*atomic.member;
}

}  // namespace kbench::vulkan
