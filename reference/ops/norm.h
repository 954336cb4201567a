// Normalisation: two-pass statistics in double, biased variance. y may be x.
#pragma once

#include <cstdint>

namespace kbench::reference {

/// x [batch, channels, inner]: statistics of each channel over batch and inner. weight and bias
/// [channels], both null or neither.
template <class T>
void batch_norm(const T* x, int64_t batch, int64_t channels, int64_t inner, const T* weight,
                const T* bias, double eps, T* y);

/// x [batch, channels, inner]: statistics of each sample over channels / groups neighbouring
/// channels and inner. weight and bias [channels], both null or neither. As many groups as channels
/// make an instance norm.
template <class T>
void group_norm(const T* x, int64_t batch, int64_t channels, int64_t inner, int64_t groups,
                const T* weight, const T* bias, double eps, T* y);

/// x [rows, n]: statistics of each row. weight and bias [n], both null or neither.
template <class T>
void layer_norm(const T* x, int64_t rows, int64_t n, const T* weight, const T* bias, double eps,
                T* y);

}  // namespace kbench::reference
