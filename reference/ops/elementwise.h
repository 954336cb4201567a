// Elementwise operators on plain arrays. Outputs may be one of the inputs.
#pragma once

#include <cstdint>

#include "kbench/tensor.h"
#include "reference/simd/kernels.h"

namespace kbench::reference {

/// y[i] = op(x[i]); `value` is the number operators such as add_scalar or leaky_relu carry.
template <class T>
void unary(Unary op, double value, const T* x, T* y, int64_t n);

/// y[i] = min(max(x[i], lo), hi), NaN staying NaN.
template <class T>
void clamp(double lo, double hi, const T* x, T* y, int64_t n);

/// y[i] = x[i] * mask[i]
template <class T>
void mul_mask(const T* x, const bool* mask, T* y, int64_t n);

/// y = op(a, b), both broadcast to `shape` as NumPy does. y may be an input of that very shape.
template <class T>
void binary(Binary op, const T* a, const Shape& a_shape, const T* b, const Shape& b_shape, T* y,
            const Shape& shape);

}  // namespace kbench::reference
