#include "reference/ops/pooling.h"

#include <algorithm>
#include <limits>

#include "reference/parallel.h"
#include "reference/simd/kernels.h"
#include "reference/windows.h"

namespace kbench::reference {

template <class T>
void max_pool2d(const T* x, int64_t planes, std::array<int64_t, 2> in, const Window2d& window, T* y,
                std::array<int64_t, 2> out) {
  const auto& [kernel, stride, padding, dilation] = window;
  const int64_t work = out[1] * kernel[0] * kernel[1];
  // One row of outputs at a time, which stays in the cache while the window's taps pass over it.
  parallel_for(planes * out[0], grain_of(work), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* plane = x + row / out[0] * in[0] * in[1];
      T* to = y + row * out[1];
      std::fill_n(to, out[1], -std::numeric_limits<T>::infinity());
      for (int64_t u = 0; u < kernel[0]; ++u) {
        const int64_t i = row % out[0] * stride[0] + u * dilation[0] - padding[0];
        if (i < 0 || i >= in[0]) continue;
        for (int64_t v = 0; v < kernel[1]; ++v) {
          const int64_t offset = v * dilation[1] - padding[1];
          const Range range = inside(offset, stride[1], in[1], out[1]);
          kernels<T>().max_strided(plane + i * in[1] + range.begin * stride[1] + offset, stride[1],
                                   to + range.begin, range.end - range.begin);
        }
      }
    }
  });
}

template void max_pool2d<float>(const float*, int64_t, std::array<int64_t, 2>, const Window2d&,
                                float*, std::array<int64_t, 2>);
template void max_pool2d<double>(const double*, int64_t, std::array<int64_t, 2>, const Window2d&,
                                 double*, std::array<int64_t, 2>);

}  // namespace kbench::reference
