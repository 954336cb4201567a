#include "reference/ops/loss.h"

#include <cmath>
#include <string>

#include "kbench/error.h"
#include "reference/parallel.h"
#include "reference/scratch.h"
#include "reference/simd/kernels.h"

namespace kbench::reference {

template <class T>
T cross_entropy(const T* x, const int64_t* target, int64_t rows, int64_t classes) {
  for (int64_t i = 0; i < rows; ++i) {
    if (target[i] < 0 || target[i] >= classes) {
      throw Error(ErrorCode::kInvalidArgument, "cross_entropy: target[" + std::to_string(i) +
                                                   "] is " + std::to_string(target[i]) +
                                                   ", not one of " + std::to_string(classes) +
                                                   " classes");
    }
  }
  // Losses of rows are kept and summed afterwards: the same sum whatever the number of threads.
  Scratch<T> loss(rows);
  constexpr int64_t kRowWork = 32;
  parallel_for(rows, grain_of(kRowWork + 8 * classes), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* row = x + i * classes;
      T max;
      const double sum = kernels<T>().exp_sum(row, classes, &max, nullptr);
      loss[i] = std::log(static_cast<T>(sum)) + (max - row[target[i]]);
    }
  });
  return static_cast<T>(kernels<T>().sum(loss.get(), rows) / static_cast<double>(rows));
}

template float cross_entropy<float>(const float*, const int64_t*, int64_t, int64_t);
template double cross_entropy<double>(const double*, const int64_t*, int64_t, int64_t);

}  // namespace kbench::reference
