// Which SPIR-V capabilities a device, as kbench opens it, can run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/measure/vulkan/plan.h"
#include "harness/measure/vulkan/snapshot.h"
#include "harness/measure/vulkan/spirv.h"

namespace kbench::vulkan {

/// SpvCapabilityCooperativeMatrixKHR, newer than the headers kbench may be built with.
inline constexpr uint32_t kCooperativeMatrixKhr = 6022;

/// What cannot be had, and whose no it is.
struct MissingCapability {
  std::string name;        ///< "16-bit floats"; of those kbench has no use for SPIR-V's own name
  bool by_device = false;  ///< the device lacks it; else kbench lets no candidate have it
};

/// Nothing when the capability can be used. One that kbench does not know cannot: no feature for it
/// has been enabled.
std::optional<MissingCapability> missing_capability(uint32_t capability, const DevicePlan& plan,
                                                    const DeviceSnapshot& snapshot);
/// Likewise of the module's atomic operations on floats, which capabilities do not tell apart.
std::optional<MissingCapability> missing_float_atomic(const SpirvFacts& facts,
                                                      const DevicePlan& plan);

}  // namespace kbench::vulkan
