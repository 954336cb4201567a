// A matrix product cut into tiles that stay in registers and blocks that stay in caches (Goto, van
// de Geijn: "Anatomy of high-performance matrix multiplication", 2008).
#pragma once

#include "reference/simd/kernels.h"

namespace kbench::reference {

/// One product: c[i, j] = start + sum over k of a[i, k] b[k, j], the result's rows c_step apart.
template <class T>
struct BlockedProduct {
  int64_t m, n, k;
  ProductOperand<T> a, b;
  const T* bias;  ///< of each column, or null
  T* c;
  int64_t c_step;
};

/// On this thread alone, or spread over all. The result is the same.
template <class T>
void run_serial(const BlockedProduct<T>& product);
template <class T>
void run_parallel(const BlockedProduct<T>& product);

}  // namespace kbench::reference
