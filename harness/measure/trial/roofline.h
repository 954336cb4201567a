// What a device reaches at best: the two rates a roofline is made of.
#pragma once

#include "harness/measure/vulkan/device.h"
#include "kbench/baseline.h"

namespace kbench::trial {

/// Measures the rate of a float32 copy, the best of several sizes far above the caches, and of
/// float32 fused multiply-adds in registers; under a second on a GPU. Throws what the device's
/// functions throw.
Roofline measure_roofline(vulkan::Device& device);

}  // namespace kbench::trial
