// What a candidate's kernel may do: an allow-list of SPIR-V capabilities, extensions and
// instruction sets, the kinds of resources there are (shader_interface.h gives them theirs), and
// the device's limits.
#pragma once

#include <optional>

#include "harness/measure/runner/refusal.h"
#include "harness/measure/vulkan/plan.h"
#include "harness/measure/vulkan/snapshot.h"
#include "harness/measure/vulkan/spirv.h"

namespace kbench::runner {

/// What a module that cannot be read declares and candidates cannot use, as far as that goes.
std::optional<Refusal> check_declared(const vulkan::SpirvFacts& declared,
                                      const vulkan::DeviceSnapshot& snapshot,
                                      const vulkan::DevicePlan& plan);

/// Why a module must not or cannot run, by any step; nothing when it may.
/// `addresses`: a step pushes it a buffer address.
std::optional<Refusal> check_module(const vulkan::SpirvFacts& facts,
                                    const vulkan::DeviceSnapshot& snapshot,
                                    const vulkan::DevicePlan& plan, bool addresses);

}  // namespace kbench::runner
