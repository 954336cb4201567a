// Moving a strided array into another of the same extents.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/eager/eager.h"

namespace kbench::eager {

struct CopyDim {
  int64_t extent, from, to;  ///< strides in 32-bit words; `from` may be 0 or negative
};
using CopyDims = std::vector<CopyDim>;  ///< outermost first

/// The launch that moves `dims`; both operands start where the first element lies. Dimensions that
/// run on in both arrays are joined; where the contiguous ones differ, tiles are transposed.
Launch copy_launch(const CopyDims& dims, Operand from, Operand to, const DeviceTraits& traits);

}  // namespace kbench::eager
