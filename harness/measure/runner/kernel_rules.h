// What a candidate's shader may do: an allow-list of SPIR-V capabilities, extensions, instruction
// sets and kinds of resources, and the device's limits.
#pragma once

#include <optional>

#include "harness/measure/runner/protocol.h"
#include "harness/measure/vulkan/plan.h"
#include "harness/measure/vulkan/snapshot.h"
#include "harness/measure/vulkan/spirv.h"

namespace kbench::runner {

/// Checks the declarations of a module that cannot be read completely.
std::optional<Refused> check_declared(const vulkan::SpirvFacts& declared,
                                      const vulkan::DeviceSnapshot& snapshot,
                                      const vulkan::DevicePlan& plan);

/// Why a module may not or cannot run in any step; nothing if it can. `addresses`: a step pushes it
/// a buffer address.
std::optional<Refused> check_module(const vulkan::SpirvFacts& facts,
                                    const vulkan::DeviceSnapshot& snapshot,
                                    const vulkan::DevicePlan& plan, bool addresses);

}  // namespace kbench::runner
