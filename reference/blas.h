// Matrix products on the calling thread, by OpenBLAS.
#pragma once

#include <cstdint>

namespace kbench::reference {

/// A matrix in memory, row-major: neighbouring rows are `step` elements apart. A transposed one is
/// stored as its transpose is.
template <class T>
struct Matrix {
  const T* data = nullptr;
  int64_t step = 0;
  bool transposed = false;

  Matrix from(int64_t row, int64_t column) const {
    return {data + (transposed ? column * step + row : row * step + column), step, transposed};
  }
};

/// c = a b + beta c: a is [m, k], b [k, n] and c [m, n], its rows c_step apart. Where beta is 0,
/// what c holds is not looked at. The bits depend neither on other threads nor on where the
/// operands lie. Where the run's sums are sequential, by a loop of kbench's own instead, each
/// element's terms one after another. Throws kUnsupported for extents and steps of 2^31 or more,
/// which OpenBLAS does not take.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, T beta, T* c,
          int64_t c_step);

}  // namespace kbench::reference
