// The devices of --devices.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"

namespace kbench::queue {

/// Of those there are: "all" (every GPU that kbench can use; without one, the CPU device), or a
/// list by commas, each as --device takes it. Throws Error: kNotFound, kUnsupported, and
/// kInvalidArgument where one is named twice.
std::vector<vulkan::DeviceSnapshot> choose_devices(
    const std::vector<vulkan::DeviceSnapshot>& devices, std::string_view text);

/// What chooses that device again, in another process: its UUID, or its index where several have
/// one UUID.
std::string selector_of(const vulkan::DeviceSnapshot& device,
                        const std::vector<vulkan::DeviceSnapshot>& devices);

}  // namespace kbench::queue
