// Planning a convolution as a matrix product.
#pragma once

#include "harness/eager/gemm.h"

namespace kbench::eager {

/// With that tile and the depth in that many parts, whatever the sizes.
CallPlan plan_convolution(const OperatorCall& call, const Tile& tile, int64_t splits,
                          const DeviceTraits& traits);

}  // namespace kbench::eager
