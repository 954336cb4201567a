// What NVIDIA's own libraries know of a Vulkan device.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "harness/measure/cuda/nvrtc.h"

namespace kbench::cuda {

/// The compute capability of the device with that UUID (VkPhysicalDeviceIDProperties), by NVML
/// (libnvidia-ml.so.1) or else the CUDA driver (libcuda.so.1), which makes no context. Throws
/// kUnsupported, saying why, when neither knows it.
ComputeCapability device_capability(const std::array<uint8_t, 16>& uuid);

}  // namespace kbench::cuda
