// Convolution as a blocked matrix product. The matrix of windows is never built whole: each block
// of output positions gathers its part, a few hundred kilobytes, and multiplies it while it is in
// the cache.
#pragma once

#include <array>
#include <cstdint>

#include "reference/ops/pooling.h"

namespace kbench::reference {

struct Conv2dExtents {
  int64_t batch = 1, channels = 1, out_channels = 1, groups = 1;
  std::array<int64_t, 2> in = {1, 1}, out = {1, 1};  ///< height and width
  Window2d window;
};

/// Cross-correlation: x [batch, channels, in], weight [out_channels, channels / groups, kernel],
/// bias [out_channels] or null -> y [batch, out_channels, out].
template <class T>
void conv2d(const T* x, const T* weight, const T* bias, const Conv2dExtents& extents, T* y);

}  // namespace kbench::reference
