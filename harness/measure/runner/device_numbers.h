// The numbers of a device that a candidate's expressions may use.
#pragma once

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/candidate.h"

namespace kbench::runner {

/// For every name of device_number_names(), Vulkan's limit of that name.
DeviceNumbers device_numbers(const vulkan::DeviceSnapshot& snapshot);

}  // namespace kbench::runner
