// Matrix products, row-major.
#pragma once

#include <cstdint>
#include <span>

namespace kbench::reference {

struct Product {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false;  ///< a is stored [k, m]
  bool transpose_b = false;  ///< b is stored [n, k]
};

/// c[i] = a[a_index[i]] * b[b_index[i]] for every i, matrices standing one after another in a, b
/// and c. The index lists have one entry a product. The same result on any number of threads.
template <class T>
void matmul(const Product& product, std::span<const int64_t> a_index,
            std::span<const int64_t> b_index, const T* a, const T* b, T* c);

/// y [rows, out] = x [rows, in] * weight [out, in]^T + bias [out]; bias may be null.
template <class T>
void linear(const T* x, const T* weight, const T* bias, int64_t rows, int64_t in, int64_t out,
            T* y);

}  // namespace kbench::reference
