// Barriers that some invocations of a workgroup may not reach.
#pragma once

#include "harness/measure/vulkan/spirv_module.h"

namespace kbench::vulkan {

struct SkippedBarriers {
  bool behind_return = false;  ///< some invocations may have left the shader before
  bool in_branch = false;      ///< some may be in another branch, or have left the loop
};

/// Finds branches on conditions that may differ between invocations of a workgroup: those computed
/// from an invocation's number, or from a variable that was stored behind such a branch. Arithmetic
/// is not followed: x - x of an invocation's number counts as differing. What is loaded from shared
/// memory at an address that is the same for all counts as the same.
SkippedBarriers skipped_barriers(const SpirvModule& module);

}  // namespace kbench::vulkan
