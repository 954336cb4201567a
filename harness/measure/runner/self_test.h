// Tests that a device works, so that its faults are not taken for the candidate's.
#pragma once

#include "harness/measure/vulkan/device.h"

namespace kbench::runner {

/// Whether the device runs an empty kernel between timestamps within that time. A software device
/// whose driver could not start all its threads may accept work and never finish it. After false
/// the device must be neither used nor closed.
bool computes(vulkan::Device& device, double seconds);

}  // namespace kbench::runner
