// What a candidate's kernel may do: an allow-list of SPIR-V capabilities, extensions and
// instruction sets, the one interface there is (storage buffers 0, 1, 2, ... of set 0, and a push
// block), and the device's limits.
#pragma once

#include <cstddef>
#include <optional>

#include "harness/runner/refusal.h"
#include "harness/vulkan/plan.h"
#include "harness/vulkan/snapshot.h"
#include "harness/vulkan/spirv.h"

namespace kbench::runner {

/// Why a module must not or cannot run, whatever step launches it; nothing when it may.
/// `addresses`: a step pushes it a buffer address.
std::optional<Refusal> check_module(const vulkan::SpirvFacts& facts,
                                    const vulkan::DeviceSnapshot& snapshot,
                                    const vulkan::DevicePlan& plan, bool addresses);

/// Why a module does not fit the bindings and push block a step gives it.
std::optional<Refusal> check_interface(const vulkan::SpirvFacts& facts, size_t bindings,
                                       size_t push_bytes);

}  // namespace kbench::runner
