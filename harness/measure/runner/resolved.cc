#include "harness/measure/runner/resolved.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace kbench::runner {

namespace {

/// Where the line after #version begins; 0 without one.
size_t behind_version(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with('#')) {
      line.remove_prefix(1);
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      if (line.starts_with("version")) return std::min(end + 1, text.size());
    }
    at = end + 1;
  }
  return 0;
}

/// A #line directive, with the file if its name can stand in a string literal.
std::string line_directive(std::ptrdiff_t line, const std::string& file) {
  const bool plain = std::all_of(file.begin(), file.end(), [](unsigned char c) {
    return c >= ' ' && c < 127 && c != '"' && c != '\\';
  });
  return "\n#line " + std::to_string(line) + (plain ? " \"" + file + "\"" : "") + "\n";
}

}  // namespace

std::string kernel_text(const ResolvedKernel& resolved) {
  const Kernel& kernel = *resolved.kernel;
  const std::string& front = resolved.real_names;
  if (front.empty()) return kernel.source;
  const std::string& source = kernel.source;
  const size_t split = behind_version(source);
  const std::string head = source.substr(0, split);
  const auto next = std::count(head.begin(), head.end(), '\n') + 1;
  return head + front + line_directive(next, kernel.file) + source.substr(split);
}

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
