// Pooling over windows in three spatial dimensions; one or two are three with extents of 1.
#pragma once

#include <array>
#include <cstdint>

namespace kbench::reference {

struct PoolExtents {
  int64_t planes = 1;  ///< batch and channels
  std::array<int64_t, 3> in = {1, 1, 1}, out = {1, 1, 1};
  std::array<int64_t, 3> kernel = {1, 1, 1}, stride = {1, 1, 1}, padding = {0, 0, 0},
                         dilation = {1, 1, 1};
};

/// x [planes, in] -> y [planes, out]: the largest element of each window, positions outside
/// ignored; NaN wins. Windows may hang over the end.
template <class T>
void max_pool(const T* x, const PoolExtents& extents, T* y);

/// The mean of each window, padding counting as zeros; what of a last window hangs over the end of
/// the padding does not count. No dilation.
template <class T>
void avg_pool(const T* x, const PoolExtents& extents, T* y);

/// x [planes, in] -> y [planes, out]: the mean over rows floor(i * in / out) to
/// ceil((i + 1) * in / out) - 1 of output row i, and columns likewise.
template <class T>
void adaptive_avg_pool2d(const T* x, int64_t planes, std::array<int64_t, 2> in, T* y,
                         std::array<int64_t, 2> out);

}  // namespace kbench::reference
