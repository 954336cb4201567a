// Convolutions of one to three dimensions, the last of three being along the rows of memory; those
// that are left out have extent 1.
#pragma once

#include <array>
#include <cstdint>

namespace kbench::reference {

using Triple = std::array<int64_t, 3>;

struct ConvExtents {
  int64_t batch = 1, channels = 1, out_channels = 1, groups = 1;
  Triple in = {1, 1, 1}, out = {1, 1, 1}, kernel = {1, 1, 1};
  Triple stride = {1, 1, 1}, padding = {0, 0, 0}, dilation = {1, 1, 1};
};

inline int64_t product(const Triple& t) { return t[0] * t[1] * t[2]; }

/// Elements between neighbouring outputs, in each of their dimensions.
struct OutputSteps {
  int64_t batch = 0, channel = 0;
  Triple space = {0, 0, 0};
};

/// Cross-correlation: x [batch, channels, in], weight [out_channels, channels / groups, kernel],
/// bias [out_channels] or null -> y [batch, out_channels, out].
template <class T>
void convolve(const T* x, const T* weight, const T* bias, const ConvExtents& extents, T* y);

/// The same into any place, by matrix products; outputs may be any number and padding negative:
/// windows that leave the input find zeros there.
template <class T>
void convolve_into(const T* x, const T* weight, const T* bias, const ConvExtents& extents,
                   const OutputSteps& steps, T* y);

/// Whether every output channel reads one input channel, few reading the same one.
bool is_depthwise(const ConvExtents& extents);

/// convolve for such extents: too little work an element for a matrix product.
template <class T>
void convolve_depthwise(const T* x, const T* weight, const T* bias, const ConvExtents& extents,
                        T* y);

/// The gradient of a convolution with respect to its input: y[n, o, i * stride + u * dilation -
/// padding] += weight[c, o, u] * x[n, c, i], from bias[o] (0 where bias is null): x [batch,
/// channels, in], weight [channels, out_channels / groups, kernel], y [batch, out_channels, out],
/// out being any extents.
template <class T>
void convolve_transposed(const T* x, const T* weight, const T* bias, const ConvExtents& extents,
                         T* y);

}  // namespace kbench::reference
