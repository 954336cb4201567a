// Planning a convolution as a matrix product.
#pragma once

#include "harness/eager/gemm.h"

namespace kbench::eager {

/// With that tile, whatever the sizes.
CallPlan plan_convolution(const OperatorCall& call, const Tile& tile, const DeviceTraits& traits);

}  // namespace kbench::eager
