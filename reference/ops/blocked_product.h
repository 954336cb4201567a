// A matrix product on the reference's own vector kernels, for processors whose vectors are wider
// than those the distribution's BLAS has kernels for (OpenBLAS 0.3.21 knows no AVX-512 processor
// younger than itself and falls back to AVX2, half the speed).
#pragma once

#include "reference/ops/matmul.h"

namespace kbench::reference {

/// Whether blocked_product is the better choice: wide vectors, b not transposed, extents that fill
/// its tiles.
template <class T>
bool blocked_product_pays(const Product& product);

/// c = a b, spread over the threads when `parallel`.
template <class T>
void blocked_product(const Product& product, bool parallel, const T* a, const T* b, T* c);

}  // namespace kbench::reference
