// The gradient of a convolution with respect to its input.
#pragma once

#include "reference/ops/convolution.h"

namespace kbench::reference {

/// y[n, o, i * stride + u * dilation - padding] += weight[c, o, u] * x[n, c, i], from bias[o] (0
/// where bias is null): x [batch, channels, in], weight [channels, out_channels / groups, kernel],
/// y [batch, out_channels, out], out being any extents.
template <class T>
void convolve_transposed(const T* x, const T* weight, const T* bias, const ConvExtents& extents,
                         T* y);

}  // namespace kbench::reference
