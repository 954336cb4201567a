// What is computed from a snapshot alone, for programs that have no Vulkan loader.
#include <algorithm>

#include "harness/measure/vulkan/snapshot.h"
#include "libkbench/base/hex.h"

namespace kbench::vulkan {

std::string to_string(const Uuid& uuid) { return uuid_text(uuid); }

bool DeviceSnapshot::has_extension(std::string_view extension) const {
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

}  // namespace kbench::vulkan
