// Convolution as a blocked matrix product. The matrix of windows is never built whole: each block
// of output positions gathers its part, a few hundred kilobytes, and multiplies it while it is in
// the cache.
#pragma once

#include <array>
#include <cstdint>

namespace kbench::reference {

struct Window2d {
  std::array<int64_t, 2> kernel = {1, 1}, stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
};

/// The outermost of three spatial dimensions; one or two dimensions leave it as it is.
struct Depth {
  int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  int64_t in = 1, out = 1;
};

struct ConvExtents {
  int64_t batch = 1, channels = 1, out_channels = 1, groups = 1;
  std::array<int64_t, 2> in = {1, 1}, out = {1, 1};  ///< height and width
  Window2d window = {};
  Depth depth = {};
};

/// Cross-correlation: x [batch, channels, in], weight [out_channels, channels / groups, kernel],
/// bias [out_channels] or null -> y [batch, out_channels, out].
template <class T>
void convolve(const T* x, const T* weight, const T* bias, const ConvExtents& extents, T* y);

/// How far apart neighbouring outputs are in memory, in each of their dimensions.
struct OutputStrides {
  int64_t batch, channel, depth, row, column;
};

/// The same into any place; outputs may be any number and padding negative: windows that leave the
/// input find zeros there.
template <class T>
void convolve_into(const T* x, const T* weight, const T* bias, const ConvExtents& extents,
                   const OutputStrides& strides, T* y);

}  // namespace kbench::reference
