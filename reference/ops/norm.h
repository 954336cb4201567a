// Normalisation: two-pass statistics in double, biased variance. y may be x.
#pragma once

#include <cstdint>

namespace kbench::reference {

/// x [batch, channels, inner]: statistics of each channel over batch and inner. weight and bias
/// [channels], both null or neither.
template <class T>
void batch_norm(const T* x, int64_t batch, int64_t channels, int64_t inner, const T* weight,
                const T* bias, double eps, T* y);

/// x [rows, n]: statistics of each row. weight and bias [n], both null or neither.
template <class T>
void layer_norm(const T* x, int64_t rows, int64_t n, const T* weight, const T* bias, double eps,
                T* y);

}  // namespace kbench::reference
