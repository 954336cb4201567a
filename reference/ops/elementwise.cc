#include "reference/ops/elementwise.h"

#include <algorithm>
#include <vector>

#include "reference/parallel.h"

namespace kbench::reference {
namespace {

/// One dimension of a broadcast operation: its extent, and how far each input moves along it.
struct Dimension {
  int64_t extent, a, b;
};

/// The dimensions outermost first, neighbours that move alike merged into one, extents of 1 left
/// out; never empty.
std::vector<Dimension> merged(const Shape& a, const Shape& b, const Shape& out) {
  std::vector<Dimension> dims;
  int64_t a_stride = 1, b_stride = 1;
  for (size_t i = 0; i < out.size(); ++i) {  // from the innermost
    const int64_t extent = out[out.size() - 1 - i];
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    const Dimension dim = {extent, x == 1 ? 0 : a_stride, y == 1 ? 0 : b_stride};
    a_stride *= x;
    b_stride *= y;
    if (extent == 1) continue;
    const bool merges = !dims.empty() && dim.a == dims.back().a * dims.back().extent &&
                        dim.b == dims.back().b * dims.back().extent;
    if (merges) {
      dims.back().extent *= extent;
    } else {
      dims.push_back(dim);
    }
  }
  if (dims.empty()) dims.push_back({1, 1, 1});
  std::reverse(dims.begin(), dims.end());
  return dims;
}

}  // namespace

template <class T>
void unary(Unary op, double value, const T* x, T* y, int64_t n) {
  parallel_for(n, grain_of(1), [&](int64_t begin, int64_t end) {
    kernels<T>().unary(op, static_cast<T>(value), x + begin, y + begin, end - begin);
  });
}

template <class T>
void clamp(double lo, double hi, const T* x, T* y, int64_t n) {
  constexpr int64_t kBlock = 4096;  // that the second pass finds in the first-level cache
  parallel_for(n, grain_of(1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t size = std::min(kBlock, end - i);
      kernels<T>().unary(Unary::clamp_min, static_cast<T>(lo), x + i, y + i, size);
      kernels<T>().unary(Unary::clamp_max, static_cast<T>(hi), y + i, y + i, size);
    }
  });
}

template <class T>
void mul_mask(const T* x, const bool* mask, T* y, int64_t n) {
  parallel_for(n, grain_of(1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = x[i] * static_cast<T>(mask[i]);
  });
}

template <class T>
void binary(Binary op, const T* a, const Shape& a_shape, const T* b, const Shape& b_shape, T* y,
            const Shape& shape) {
  const std::vector<Dimension> dims = merged(a_shape, b_shape, shape);
  const Dimension inner = dims.back();
  parallel_for(element_count(shape), grain_of(1), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t row = begin / inner.extent;
      const int64_t column = begin % inner.extent;
      const int64_t n = std::min(end - begin, inner.extent - column);
      const T* pa = a + column * inner.a;
      const T* pb = b + column * inner.b;
      for (size_t i = dims.size() - 1; i-- > 0; row /= dims[i].extent) {
        pa += row % dims[i].extent * dims[i].a;
        pb += row % dims[i].extent * dims[i].b;
      }
      if (inner.a != 0 && inner.b != 0) {
        kernels<T>().binary(op, pa, pb, y + begin, n);
      } else if (inner.b == 0) {
        kernels<T>().binary_right(op, pa, *pb, y + begin, n);
      } else {
        kernels<T>().binary_left(op, *pa, pb, y + begin, n);
      }
      begin += n;
    }
  });
}

template void unary<float>(Unary, double, const float*, float*, int64_t);
template void unary<double>(Unary, double, const double*, double*, int64_t);
template void clamp<float>(double, double, const float*, float*, int64_t);
template void clamp<double>(double, double, const double*, double*, int64_t);
template void mul_mask<float>(const float*, const bool*, float*, int64_t);
template void mul_mask<double>(const double*, const bool*, double*, int64_t);
template void binary<float>(Binary, const float*, const Shape&, const float*, const Shape&, float*,
                            const Shape&);
template void binary<double>(Binary, const double*, const Shape&, const double*, const Shape&,
                             double*, const Shape&);

}  // namespace kbench::reference
