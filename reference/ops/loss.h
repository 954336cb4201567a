// Losses.
#pragma once

#include <cstdint>

namespace kbench::reference {

/// The mean over rows of log(sum over j of exp(x[i, j])) - x[i, target[i]], x [rows, classes].
/// Throws kInvalidArgument when a target is not a class.
template <class T>
T cross_entropy(const T* x, const int64_t* target, int64_t rows, int64_t classes);

}  // namespace kbench::reference
