#include "reference/ops/elementwise.h"

#include <algorithm>
#include <vector>

#include "libkbench/src/dimensions.h"
#include "reference/parallel.h"

namespace kbench::reference {

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
  std::vector<Dimension> dims = merged(broadcast_dimensions(a_shape, b_shape, shape));
  if (dims.empty()) dims.push_back({1, 1, 1});
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
