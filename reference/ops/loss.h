// Losses.
#pragma once

#include <cstdint>

namespace kbench::reference {

/// The mean over rows of log(sum over j of exp(x[i, j])) - x[i, target[i]], x [rows, classes].
/// Throws kInvalidArgument when a target is not a class.
template <class T>
T cross_entropy(const T* x, const int64_t* target, int64_t rows, int64_t classes);

/// The mean of d^2 / 2 where |d| < 1 and |d| - 1/2 elsewhere, d = x[i] - target[i].
template <class T>
T smooth_l1_loss(const T* x, const T* target, int64_t n);

/// The sum of target[i] * (log(target[i]) - log_input[i]), zero where target is, over `batch`.
template <class T>
T kl_div_batchmean(const T* log_input, const T* target, int64_t n, int64_t batch);

/// The mean over rows of max(|a - p + 1e-6| - |a - n + 1e-6| + margin, 0), in 2-norms.
template <class T>
T triplet_margin_loss(const T* anchor, const T* positive, const T* negative, int64_t rows,
                      int64_t features, double margin);

}  // namespace kbench::reference
