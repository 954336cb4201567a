// Whether a device does as it is told, before a candidate may be blamed for it.
#pragma once

#include "harness/measure/vulkan/device.h"

namespace kbench::runner {

/// Whether it runs a kernel that does nothing, between timestamps, within that time. A software
/// device whose driver could not start all its threads may take what it is given and never end it.
/// After false the device is not to be used, nor to be closed.
bool computes(vulkan::Device& device, double seconds);

}  // namespace kbench::runner
