// Which SPIR-V capabilities a device, as kbench opens it, can run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/vulkan/plan.h"
#include "harness/vulkan/snapshot.h"

namespace kbench::vulkan {

/// SpvCapabilityCooperativeMatrixKHR, newer than the headers kbench may be built with.
inline constexpr uint32_t kCooperativeMatrixKhr = 6022;

/// Nothing when the capability can be used; else what to call the thing that is missing. A
/// capability kbench does not know is missing: no feature for it has been enabled.
std::optional<std::string> missing_capability(uint32_t capability, const DevicePlan& plan,
                                              const DeviceSnapshot& snapshot);

}  // namespace kbench::vulkan
