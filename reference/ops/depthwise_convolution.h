// Convolution of each channel by itself: too little work an element for a matrix product.
#pragma once

#include "reference/ops/convolution.h"

namespace kbench::reference {

/// Whether every output channel reads one input channel, few reading the same one, plane by plane.
bool is_depthwise(const ConvExtents& extents);

/// convolve for such extents.
template <class T>
void convolve_depthwise(const T* x, const T* weight, const T* bias, const ConvExtents& extents,
                        T* y);

}  // namespace kbench::reference
