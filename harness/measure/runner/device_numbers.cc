#include "harness/measure/runner/device_numbers.h"

#include <algorithm>
#include <string>

namespace kbench::runner {

DeviceNumbers device_numbers(const vulkan::DeviceSnapshot& snapshot) {
  DeviceNumbers numbers = {
      {"subgroup_size", snapshot.subgroup_size},
      // 0: the device does not say and has one size.
      {"min_subgroup_size", std::max(snapshot.min_subgroup_size, 1u)},
      {"max_subgroup_size", std::max(snapshot.max_subgroup_size, 1u)},
      {"max_compute_shared_memory_size", snapshot.max_shared_memory},
      {"max_compute_work_group_invocations", snapshot.max_invocations},
      {"max_push_constants_size", snapshot.max_push_constants},
      {"max_storage_buffer_range", static_cast<int64_t>(snapshot.max_storage_buffer_range)},
      {"min_storage_buffer_offset_alignment",
       static_cast<int64_t>(snapshot.storage_offset_alignment)},
      {"cooperative_matrix_nv", snapshot.cooperative_matrix_nv && snapshot.vulkan_memory_model}};
  if (!snapshot.subgroup_size_control) {
    numbers["min_subgroup_size"] = numbers["max_subgroup_size"] = snapshot.subgroup_size;
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    const std::string i = "_" + std::to_string(axis);
    numbers["max_compute_work_group_size" + i] = snapshot.max_group_size[axis];
    numbers["max_compute_work_group_count" + i] = snapshot.max_group_count[axis];
  }
  return numbers;
}

}  // namespace kbench::runner
