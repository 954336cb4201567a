#include "reference/ops/pooling.h"

#include <algorithm>
#include <limits>

#include "reference/parallel.h"
#include "reference/scratch.h"
#include "reference/simd/kernels.h"
#include "reference/windows.h"

namespace kbench::reference {
namespace {

/// Pools window by window in two steps: a row of outputs needs the same rows of x at every column,
/// so those are gathered into one row first, over whole vectors, and windows along it after.
/// `gather(x, stride, y, n)` takes x[i * stride] into y[i]; finish(outer index, row) ends a row.
template <class T, class Gather, class Finish>
void pool(const T* x, const PoolExtents& e, T start, const Gather& gather, T* y,
          const Finish& finish) {
  const auto &in = e.in, &out = e.out, &kernel = e.kernel;
  const auto &stride = e.stride, &padding = e.padding, &dilation = e.dilation;
  const int64_t work = kernel[0] * kernel[1] * in[2] / 8 + kernel[2] * out[2];
  parallel_for(e.planes * out[0] * out[1], grain_of(work), [&](int64_t begin, int64_t end) {
    Scratch<T> gathered(in[2]);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t plane = i / (out[0] * out[1]), depth = i / out[1] % out[0], row = i % out[1];
      std::fill_n(gathered.get(), in[2], start);
      for (int64_t u = 0; u < kernel[0]; ++u) {
        const int64_t d = depth * stride[0] + u * dilation[0] - padding[0];
        if (d < 0 || d >= in[0]) continue;
        for (int64_t v = 0; v < kernel[1]; ++v) {
          const int64_t r = row * stride[1] + v * dilation[1] - padding[1];
          if (r < 0 || r >= in[1]) continue;
          gather(x + ((plane * in[0] + d) * in[1] + r) * in[2], 1, gathered.get(), in[2]);
        }
      }
      T* to = y + i * out[2];
      std::fill_n(to, out[2], start);
      for (int64_t w = 0; w < kernel[2]; ++w) {
        const int64_t offset = w * dilation[2] - padding[2];
        const Range range = inside(offset, stride[2], in[2], out[2]);
        gather(gathered.get() + range.begin * stride[2] + offset, stride[2], to + range.begin,
               range.end - range.begin);
      }
      finish(depth, row, to);
    }
  });
}

/// Elements of window i along one dimension that lie inside input or padding.
int64_t counted(const PoolExtents& e, int dim, int64_t i) {
  return std::min(e.kernel[dim], e.in[dim] + 2 * e.padding[dim] - i * e.stride[dim]);
}

}  // namespace

template <class T>
void max_pool(const T* x, const PoolExtents& e, T* y) {
  pool(x, e, -std::numeric_limits<T>::infinity(), kernels<T>().max_strided, y,
       [](int64_t, int64_t, T*) {});
}

template <class T>
void avg_pool(const T* x, const PoolExtents& e, T* y) {
  const int64_t last = e.out[2] - 1;
  pool(x, e, T(0), kernels<T>().add_strided, y, [&](int64_t depth, int64_t row, T* to) {
    const int64_t lines = counted(e, 0, depth) * counted(e, 1, row);
    const auto divide = [&](int64_t begin, int64_t end, int64_t columns) {
      kernels<T>().unary(Unary::div, static_cast<T>(lines * columns), to + begin, to + begin,
                         end - begin);
    };
    // Only the last column's window can hang over.
    divide(0, last, e.kernel[2]);
    divide(last, last + 1, counted(e, 2, last));
  });
}

template <class T>
void adaptive_avg_pool2d(const T* x, int64_t planes, std::array<int64_t, 2> in, T* y,
                         std::array<int64_t, 2> out) {
  const auto first = [&](int dim, int64_t i) { return i * in[dim] / out[dim]; };
  const auto last = [&](int dim, int64_t i) {
    return ((i + 1) * in[dim] + out[dim] - 1) / out[dim];
  };
  parallel_for(planes * out[0], grain_of(in[0] * in[1] / out[0]), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* plane = x + i / out[0] * in[0] * in[1];
      const int64_t top = first(0, i % out[0]), bottom = last(0, i % out[0]);
      for (int64_t j = 0; j < out[1]; ++j) {
        const int64_t left = first(1, j), columns = last(1, j) - left;
        double sum = 0;
        for (int64_t r = top; r < bottom; ++r) {
          sum += kernels<T>().sum(plane + r * in[1] + left, columns);
        }
        y[i * out[1] + j] = static_cast<T>(sum / static_cast<double>((bottom - top) * columns));
      }
    }
  });
}

#define KBENCH_INSTANTIATE(T)                                                         \
  template void max_pool<T>(const T*, const PoolExtents&, T*);                        \
  template void avg_pool<T>(const T*, const PoolExtents&, T*);                        \
  template void adaptive_avg_pool2d<T>(const T*, int64_t, std::array<int64_t, 2>, T*, \
                                       std::array<int64_t, 2>);
KBENCH_INSTANTIATE(float)
KBENCH_INSTANTIATE(double)
#undef KBENCH_INSTANTIATE

}  // namespace kbench::reference
