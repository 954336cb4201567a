// Moving a strided array into another of the same extents.
#pragma once

#include <vector>

#include "harness/measure/eager/eager.h"
#include "libkbench/core/dimensions.h"

namespace kbench::eager {

/// Outermost first; `a` is read and may have strides of 0 or below, `b` is written. Strides count
/// elements, 32-bit words where those are wider.
using CopyDims = std::vector<Dimension>;

/// The launch that moves `dims`; both operands start where the first element lies. Dimensions that
/// run on in both arrays are joined; where the contiguous ones differ, tiles are transposed.
Launch copy_launch(const CopyDims& dims, LaunchOperand from, LaunchOperand to,
                   const DeviceTraits& traits);

}  // namespace kbench::eager
