// Kernels that pooling and convolution are made of.
#pragma once

#include "reference/simd/kernels.h"
#include "reference/simd/vector.h"

namespace kbench::reference::KBENCH_ISA {

template <class T, class F>
inline void with_stride(int64_t stride, F f) {
  // A constant lets the compiler gather by shuffles.
  if (stride == 1) return f([](int64_t i) { return i; });
  if (stride == 2) return f([](int64_t i) { return 2 * i; });
  if (stride == 3) return f([](int64_t i) { return 3 * i; });
  if (stride == 4) return f([](int64_t i) { return 4 * i; });
  return f([=](int64_t i) { return stride * i; });
}

template <class T>
void max_strided(const T* x, int64_t stride, T* y, int64_t n) {
  with_stride<T>(stride, [=](auto at) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T v = x[at(i)], m = y[i];
      y[i] = ((v > m) | (v != v)) ? v : m;
    }
  });
}

template <class T>
void add_strided(const T* x, int64_t stride, T* y, int64_t n) {
  with_stride<T>(stride, [=](auto at) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] += x[at(i)];
  });
}

template <class T>
void copy_strided(const T* x, int64_t stride, T* y, int64_t n) {
  with_stride<T>(stride, [=](auto at) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = x[at(i)];
  });
}

template <class T>
void scatter(const T* x, int64_t stride, T* y, int64_t n) {
  with_stride<T>(stride, [=](auto at) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[at(i)] = x[i];
  });
}

template <class T>
void copy_runs(const T* x, const Run* runs, int64_t count, T* y) {
  constexpr int kLanes = Lanes<T>::count;
  for (const Run* run = runs; run != runs + count; ++run) {
    const T* from = x + run->from;
    T* to = y + run->to;
    for (int64_t i = 0; i < run->count; i += kLanes) store(to + i, load(from + i));
  }
}

template <class T>
void correlate(const T* x, const int64_t* offset, const T* weight, int64_t taps, T bias, T* y,
               int64_t n) {
  constexpr int kLanes = Lanes<T>::count, kVectors = 4;
  int64_t i = 0;
  for (; i + kVectors * kLanes <= n; i += kVectors * kLanes) {
    Vector<T> sum[kVectors];
    for (int j = 0; j < kVectors; ++j) sum[j] = fill<T>(bias);
    for (int64_t t = 0; t < taps; ++t) {
      const T* from = x + offset[t] + i;
      for (int j = 0; j < kVectors; ++j) sum[j] += weight[t] * load(from + j * kLanes);
    }
    for (int j = 0; j < kVectors; ++j) store(y + i + j * kLanes, sum[j]);
  }
  for (; i < n; i += kLanes) {
    Vector<T> sum = fill<T>(bias);
    for (int64_t t = 0; t < taps; ++t) sum += weight[t] * load(x + offset[t] + i);
    store(y + i, sum);
  }
}

}  // namespace kbench::reference::KBENCH_ISA
