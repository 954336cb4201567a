// Measures the two rates of a device's roofline.
#pragma once

#include "harness/measure/vulkan/device.h"
#include "kbench/baseline.h"

namespace kbench::trial {

/// The best rate of a float32 copy over several sizes far above the caches, and that of float32
/// fused multiply-adds in registers. Takes under a second on a GPU. Throws what the device's
/// functions throw.
Roofline measure_roofline(vulkan::Device& device);

}  // namespace kbench::trial
