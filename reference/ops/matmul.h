// Matrix products spread over threads.
#pragma once

#include "reference/blas.h"

namespace kbench::reference {

/// y [rows, out] = x [rows, in] * weight [out, in]^T + bias [out]; bias may be null.
template <class T>
void linear(const T* x, const T* weight, const T* bias, int64_t rows, int64_t in, int64_t out,
            T* y);

}  // namespace kbench::reference
