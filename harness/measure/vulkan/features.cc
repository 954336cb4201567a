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
  if (optional.float_atomics) {
    link(float_atomics, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT);
  }
}

}  // namespace kbench::vulkan
