// The value of --devices.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"

namespace kbench::evaluators {

/// Chooses from `devices`: "all" (every GPU that kbench can use; without one, the CPU device), or a
/// list separated by commas of what --device takes. Throws Error: kNotFound, kUnsupported, and
/// kInvalidArgument if one is named twice.
std::vector<vulkan::DeviceSnapshot> choose_devices(
    const std::vector<vulkan::DeviceSnapshot>& devices, std::string_view text);

/// The --device value that selects this device in another process: its UUID, or its index if
/// several have the same UUID.
std::string selector_of(const vulkan::DeviceSnapshot& device,
                        const std::vector<vulkan::DeviceSnapshot>& devices);

}  // namespace kbench::evaluators
