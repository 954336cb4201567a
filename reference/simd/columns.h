// Kernels down columns: a dimension that is not the last one. Each keeps one running value a column
// in a small array, and passes over the rows in order.
#pragma once

#include "reference/simd/kernels.h"
#include "reference/simd/math.h"
#include "reference/simd/rows.h"
#include "reference/simd/vector.h"

namespace kbench::reference::KBENCH_ISA {

/// Columns [c, c + vectors * lanes). Four rows are added in T before they meet the sum in double,
/// as in a row's sum.
template <class Term, int vectors, class T>
inline void sum_block(const T* x, int64_t n, int64_t stride, double* sums) {
  constexpr int kLanes = Lanes<T>::count, kParts = sizeof(double) / sizeof(T), kAhead = 12;
  Vector<double> sum[vectors * kParts] = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const T* row = x + i * stride;
    for (int j = 0; j < vectors; ++j, row += kLanes) {
      // Rows far apart defeat the hardware's prefetcher.
      for (int r = 0; r < 4; ++r) __builtin_prefetch(row + (r + kAhead) * stride);
      const auto term = [row, stride](int r) { return Term::of(load(row + r * stride)); };
      add_lanes((term(0) + term(1)) + (term(2) + term(3)), sum + j * kParts);
    }
  }
  for (; i < n; ++i) {
    for (int j = 0; j < vectors; ++j)
      add_lanes(Term::of(load(x + i * stride + j * kLanes)), sum + j * kParts);
  }
  for (int j = 0; j < vectors * kParts; ++j) store(sums + j * kDoubles, sum[j]);
}

template <class Term, class T>
void sum_columns(const T* x, int64_t n, int64_t stride, int64_t cols, double* sums) {
  constexpr int kLanes = Lanes<T>::count, kWide = 4;
  int64_t c = 0;
  for (; c + kWide * kLanes <= cols; c += kWide * kLanes)
    sum_block<Term, kWide>(x + c, n, stride, sums + c);
  for (; c + kLanes <= cols; c += kLanes) sum_block<Term, 1>(x + c, n, stride, sums + c);
  for (; c < cols; ++c) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += Term::of(double{x[i * stride + c]});
    sums[c] = sum;
  }
}

/// The integer as wide as T, so that values and indices fill vectors of equal lanes.
template <class T>
struct IndexOf;
template <>
struct IndexOf<float> {
  using type = int32_t;
};
template <>
struct IndexOf<double> {
  using type = int64_t;
};

template <auto wins, class T>
void arg_extreme_columns(const T* x, int64_t n, int64_t stride, int64_t cols, int64_t* index) {
  using Index = typename IndexOf<T>::type;
  T best[kColumnBlock];
  Index at[kColumnBlock] = {};
  for (int64_t c = 0; c < cols; ++c) best[c] = x[c];
  for (int64_t i = 1; i < n; ++i) {
    const T* row = x + i * stride;
    for (int64_t c = 0; c < cols; ++c) {
      const T v = row[c], b = best[c];
      const bool take = wins(v, b) | ((v != v) & (b == b));
      at[c] = take ? static_cast<Index>(i) : at[c];
      best[c] = take ? v : b;
    }
  }
  for (int64_t c = 0; c < cols; ++c) index[c] = at[c];
}

template <auto wins, class T>
void extreme_columns(const T* x, int64_t n, int64_t stride, int64_t cols, T* y) {
  T best[kColumnBlock];
  for (int64_t c = 0; c < cols; ++c) best[c] = x[c];
  for (int64_t i = 1; i < n; ++i) {
    const T* row = x + i * stride;
    for (int64_t c = 0; c < cols; ++c) {
      const T v = row[c], b = best[c];
      best[c] = (wins(v, b) | (v != v)) ? v : b;
    }
  }
  for (int64_t c = 0; c < cols; ++c) y[c] = best[c];
}

template <class Op, class T>
void scan_columns(const T* x, T* y, int64_t n, int64_t stride, int64_t cols) {
  double total[kColumnBlock];
  for (double& t : total) t = Op::start;
  for (int64_t i = 0; i < n; ++i) {
#pragma GCC ivdep
    for (int64_t c = 0; c < cols; ++c) {
      total[c] = Op::next(total[c], x[i * stride + c]);
      y[i * stride + c] = static_cast<T>(total[c]);
    }
  }
}

template <class T>
void softmax_columns(const T* x, T* y, int64_t n, int64_t stride, int64_t cols) {
  T max[kColumnBlock];
  double sum[kColumnBlock] = {};
  T scale[kColumnBlock];
  for (int64_t c = 0; c < cols; ++c) max[c] = x[c];
  for (int64_t i = 1; i < n; ++i) {
    for (int64_t c = 0; c < cols; ++c) {
      max[c] = x[i * stride + c] > max[c] ? x[i * stride + c] : max[c];
    }
  }
  for (int64_t i = 0; i < n; ++i) {
#pragma GCC ivdep
    for (int64_t c = 0; c < cols; ++c) y[i * stride + c] = exp(x[i * stride + c] - max[c]);
    for (int64_t c = 0; c < cols; ++c) sum[c] += y[i * stride + c];
  }
  for (int64_t c = 0; c < cols; ++c) scale[c] = static_cast<T>(1 / sum[c]);
  for (int64_t i = 0; i < n; ++i) {
#pragma GCC ivdep
    for (int64_t c = 0; c < cols; ++c) y[i * stride + c] *= scale[c];
  }
}

template <class T>
void exp_sum_columns(const T* x, int64_t n, int64_t stride, int64_t cols, T* max, double* sums) {
  T top[kColumnBlock];
  double sum[kColumnBlock] = {};
  for (int64_t c = 0; c < cols; ++c) top[c] = x[c];
  for (int64_t i = 1; i < n; ++i) {
    for (int64_t c = 0; c < cols; ++c) {
      top[c] = x[i * stride + c] > top[c] ? x[i * stride + c] : top[c];
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < cols; ++c) sum[c] += exp(x[i * stride + c] - top[c]);
  }
  for (int64_t c = 0; c < cols; ++c) {
    max[c] = top[c];
    sums[c] = sum[c];
  }
}

}  // namespace kbench::reference::KBENCH_ISA
