// Pooling over windows.
#pragma once

#include <array>
#include <cstdint>

namespace kbench::reference {

struct Window2d {
  std::array<int64_t, 2> kernel = {1, 1}, stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
};

/// x [planes, in[0], in[1]] -> y [planes, out[0], out[1]]: the largest element of each window,
/// positions outside ignored; NaN wins.
template <class T>
void max_pool2d(const T* x, int64_t planes, std::array<int64_t, 2> in, const Window2d& window, T* y,
                std::array<int64_t, 2> out);

}  // namespace kbench::reference
