// Likely mistakes in a module that is valid, for advice to its author. They are guessed from the
// module alone.
#pragma once

#include <cstdint>
#include <map>

#include "harness/measure/vulkan/spirv.h"
#include "harness/measure/vulkan/spirv_interface.h"

namespace kbench::vulkan {

struct SpirvAdvice {
  /// A barrier of the workgroup that not all invocations may reach: behind a return, or in a branch
  /// or loop, under a condition that differs between them.
  bool barrier_behind_return = false, barrier_in_branch = false;
  /// Shared memory is stored to and loaded from, and there is no barrier.
  bool shared_without_barrier = false;
};
SpirvAdvice advise(const Spirv& spirv);

/// What the elements of a storage buffer are read as.
struct ElementType {
  Scalar number;
  uint32_t together = 1;  ///< numbers of a vector
};
/// By the variable's id; without buffers whose block holds numbers of several types.
std::map<uint32_t, ElementType> element_types(const Spirv& spirv);

/// Whether bits are taken for another type somewhere: integers for floats, one half for another.
bool reads_bits(const Spirv& spirv);

}  // namespace kbench::vulkan
