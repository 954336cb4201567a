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
      y[i] = (v > m) | (v != v) ? v : m;
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

// Registers hold the tile's sums, one row of b and a broadcast element of a.
constexpr int kTileRows = kVectorBytes == 64 ? 8 : 4;
constexpr int kTileVectors = 3;

template <class T>
void tile(int64_t depth, const T* a, const T* b, int64_t ldb, const T* bias, T* c, int64_t ldc) {
  constexpr int kLanes = Lanes<T>::count;
  Vector<T> sum[kTileRows][kTileVectors];
  if (bias != nullptr) {
#pragma GCC unroll 8
    for (int i = 0; i < kTileRows; ++i) {
      for (int j = 0; j < kTileVectors; ++j) sum[i][j] = fill<T>(bias[i]);
    }
  } else {
#pragma GCC unroll 8
    for (int i = 0; i < kTileRows; ++i) {
      for (int j = 0; j < kTileVectors; ++j) sum[i][j] = load(c + i * ldc + j * kLanes);
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    Vector<T> row[kTileVectors];
    for (int j = 0; j < kTileVectors; ++j) row[j] = load(b + k * ldb + j * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kTileRows; ++i) {
      for (int j = 0; j < kTileVectors; ++j) sum[i][j] += a[k * kTileRows + i] * row[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kTileRows; ++i) {
    for (int j = 0; j < kTileVectors; ++j) store(c + i * ldc + j * kLanes, sum[i][j]);
  }
}

}  // namespace kbench::reference::KBENCH_ISA
