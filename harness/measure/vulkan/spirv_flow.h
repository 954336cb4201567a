// Where invocations of a workgroup go different ways in a module, and barriers that stand there.
#pragma once

#include "harness/measure/vulkan/spirv_module.h"

namespace kbench::vulkan {

struct SkippedBarriers {
  bool behind_return = false;  ///< some invocations may have left the shader before
  bool in_branch = false;      ///< some may be in another branch, or have left the loop
};

/// Follows what differs between invocations of a workgroup (their numbers, and all that is made of
/// them or stored where they go different ways) to the conditions of branches. A condition that is
/// the same for all by arithmetic alone counts as differing; what lies in memory that invocations
/// share, at a place that is the same for all, does not.
SkippedBarriers skipped_barriers(const SpirvModule& module);

}  // namespace kbench::vulkan
