#include "reference/ops/loss.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kbench/error.h"
#include "reference/parallel.h"
#include "reference/scratch.h"
#include "reference/simd/kernels.h"

namespace kbench::reference {
namespace {

constexpr int64_t kTermBlock = 2048;  // terms that stay in the first-level cache

/// The sum in double of n terms, which fill(begin, count, terms) computes a block at a time.
template <class T, class Fill>
double sum_of_terms(int64_t n, const Fill& fill) {
  T terms[kTermBlock];
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kTermBlock) {
    const int64_t size = std::min(kTermBlock, n - begin);
    fill(begin, size, terms);
    total += kernels<T>().sum(terms, size);
  }
  return total;
}

/// The same in parallel, in pieces that do not depend on the number of threads.
template <class T, class Fill>
double long_sum_of_terms(int64_t n, const Fill& fill) {
  constexpr int64_t kPiece = 1 << 14;
  std::vector<double> parts((n + kPiece - 1) / kPiece);
  parallel_for(static_cast<int64_t>(parts.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * kPiece;
      parts[i] = sum_of_terms<T>(
          std::min(kPiece, n - first),
          [&](int64_t at, int64_t size, T* terms) { fill(first + at, size, terms); });
    }
  });
  return kernels<double>().sum(parts.data(), static_cast<int64_t>(parts.size()));
}

}  // namespace

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

template <class T>
T smooth_l1_loss(const T* x, const T* target, int64_t n) {
  const double sum = long_sum_of_terms<T>(n, [&](int64_t begin, int64_t size, T* terms) {
    // d^2 / 2 below 1, d - 1/2 above: no branch that random data would make costly.
    T bounded[kTermBlock];
    const Kernels<T>& k = kernels<T>();
    k.binary(Binary::sub, x + begin, target + begin, terms, size);
    k.unary(Unary::abs, T(0), terms, terms, size);
    k.unary(Unary::clamp_max, T(1), terms, bounded, size);
    for (int64_t i = 0; i < size; ++i) terms[i] = bounded[i] * (terms[i] - bounded[i] * T(0.5));
  });
  return static_cast<T>(sum / static_cast<double>(n));
}

template <class T>
T kl_div_batchmean(const T* log_input, const T* target, int64_t n, int64_t batch) {
  const double sum = long_sum_of_terms<T>(n, [&](int64_t begin, int64_t size, T* terms) {
    kernels<T>().unary(Unary::log, T(0), target + begin, terms, size);
    for (int64_t i = 0; i < size; ++i) {
      const T t = target[begin + i], term = t * (terms[i] - log_input[begin + i]);
      terms[i] = t == T(0) ? T(0) : term;
    }
  });
  return static_cast<T>(sum / static_cast<double>(batch));
}

template <class T>
T triplet_margin_loss(const T* anchor, const T* positive, const T* negative, int64_t rows,
                      int64_t features, double margin) {
  constexpr T kEps = static_cast<T>(1e-6);
  Scratch<T> loss(rows);
  parallel_for(rows, grain_of(4 * features), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* a = anchor + row * features;
      const auto distance = [&](const T* b) {
        return std::sqrt(sum_of_terms<T>(features, [&](int64_t first, int64_t size, T* terms) {
          for (int64_t i = 0; i < size; ++i) {
            const T d = a[first + i] - b[first + i] + kEps;
            terms[i] = d * d;
          }
        }));
      };
      const double excess =
          distance(positive + row * features) - distance(negative + row * features) + margin;
      loss[row] = static_cast<T>(excess < 0 ? 0 : excess);  // NaN stays
    }
  });
  return static_cast<T>(kernels<T>().sum(loss.get(), rows) / static_cast<double>(rows));
}

#define KBENCH_INSTANTIATE(T)                                              \
  template T cross_entropy<T>(const T*, const int64_t*, int64_t, int64_t); \
  template T smooth_l1_loss<T>(const T*, const T*, int64_t);               \
  template T kl_div_batchmean<T>(const T*, const T*, int64_t, int64_t);    \
  template T triplet_margin_loss<T>(const T*, const T*, const T*, int64_t, int64_t, double);
KBENCH_INSTANTIATE(float)
KBENCH_INSTANTIATE(double)
#undef KBENCH_INSTANTIATE

}  // namespace kbench::reference
