// What a candidate's expressions may ask of its device.
#pragma once

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/candidate.h"

namespace kbench::runner {

/// Every name of device_number_names(), under which Vulkan's limit of that spelling stands.
DeviceNumbers device_numbers(const vulkan::DeviceSnapshot& snapshot);

}  // namespace kbench::runner
