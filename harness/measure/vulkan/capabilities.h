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
/// BFloat16TypeKHR and BFloat16CooperativeMatrixKHR, likewise.
inline constexpr uint32_t kBfloat16Type = 5116, kBfloat16Matrix = 5118;

/// A capability that a kernel cannot use, and why.
struct MissingCapability {
  std::string name;        ///< "16-bit floats"; SPIR-V's name where kbench does not know it
  bool by_device = false;  ///< the device lacks it; else kbench does not enable it
};

/// Nothing when the capability can be used. Those that kbench does not know cannot.
std::optional<MissingCapability> missing_capability(uint32_t capability, const DevicePlan& plan,
                                                    const DeviceSnapshot& snapshot);
/// The same for a module's atomic operations on floats, which capabilities do not tell apart.
std::optional<MissingCapability> missing_float_atomic(const SpirvFacts& facts,
                                                      const DevicePlan& plan);

}  // namespace kbench::vulkan
