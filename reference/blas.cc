#include "reference/blas.h"

// kbench's own copy of OpenBLAS, which openblas.cmake says more about.
#define cblas_sgemm kbench_cblas_sgemm
#define cblas_dgemm kbench_cblas_dgemm
#define cblas_sgemv kbench_cblas_sgemv
#define cblas_dgemv kbench_cblas_dgemv
#include <cblas.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "kbench/error.h"
#include "reference/parallel.h"

// Where OpenBLAS calls for working memory, it reaches the last two of these, which call the first
// two, its own. It has memory for 128 calls at a time (twice Debian's 64 threads; one more, and it
// says so on stderr) and looks for it without a lock.
extern "C" {
void* kbench_real_blas_memory_alloc(int position);
void kbench_real_blas_memory_free(void* memory);
void* kbench_blas_memory_alloc(int position);
void kbench_blas_memory_free(void* memory);
}

namespace {

struct WorkingMemory {
  std::counting_semaphore<> free{128};
  std::mutex mutex;
};

WorkingMemory& working_memory() {
  static WorkingMemory memory;
  return memory;
}

}  // namespace

void* kbench_blas_memory_alloc(int position) {
  working_memory().free.acquire();
  const std::lock_guard lock(working_memory().mutex);
  return kbench_real_blas_memory_alloc(position);
}

void kbench_blas_memory_free(void* memory) {
  {
    const std::lock_guard lock(working_memory().mutex);
    kbench_real_blas_memory_free(memory);
  }
  working_memory().free.release();
}

namespace kbench::reference {
namespace {

blasint to_blas(int64_t n) {
  if (!std::in_range<blasint>(n)) {
    throw Error(ErrorCode::kUnsupported, "a matrix product has an extent or step of " +
                                             std::to_string(n) + ", the most is " +
                                             std::to_string(std::numeric_limits<blasint>::max()));
  }
  return static_cast<blasint>(n);
}

/// y = a x + beta y, elements x_step and y_step apart.
template <class T>
void gemv(int64_t m, int64_t k, const Matrix<T>& a, const T* x, int64_t x_step, T beta, T* y,
          int64_t y_step) {
  const auto run = [&](auto function) {
    function(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans, to_blas(a.transposed ? k : m),
             to_blas(a.transposed ? m : k), T(1), a.data, to_blas(a.step), x, to_blas(x_step), beta,
             y, to_blas(y_step));
  };
  if constexpr (sizeof(T) == sizeof(float)) {
    run(cblas_sgemv);
  } else {
    run(cblas_dgemv);
  }
}

/// c = a b + beta c with every element's terms added one after another in the order of k. Columns
/// are taken together, so that b is read along its rows or, transposed, copied to where it can be.
template <class T>
void gemm_in_turn(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, T beta,
                  T* c, int64_t c_step) {
  constexpr int64_t kColumns = 64;
  std::vector<T> copy(b.transposed ? k * kColumns : 0);
  for (int64_t column = 0; column < n; column += kColumns) {
    const int64_t width = std::min(kColumns, n - column);
    for (int64_t l = 0; l < k && b.transposed; ++l) {
      for (int64_t j = 0; j < width; ++j) copy[l * kColumns + j] = *b.from(l, column + j).data;
    }
    const T* rows = b.transposed ? copy.data() : b.data + column;
    const int64_t step = b.transposed ? kColumns : b.step;
    for (int64_t i = 0; i < m; ++i) {
      T* to = c + i * c_step + column;
      T sums[kColumns] = {};
      for (int64_t j = 0; j < width && beta != T(0); ++j) sums[j] = beta * to[j];
      for (int64_t l = 0; l < k; ++l) {
        const T left = *a.from(i, l).data;
        const T* right = rows + l * step;
        if (width == kColumns) {  // known to the compiler: vectors
          for (int64_t j = 0; j < kColumns; ++j) sums[j] += left * right[j];
        } else {
          for (int64_t j = 0; j < width; ++j) sums[j] += left * right[j];
        }
      }
      std::copy_n(sums, width, to);
    }
  }
}

}  // namespace

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, T beta, T* c,
          int64_t c_step) {
  if (is_sequential()) return gemm_in_turn(m, n, k, a, b, beta, c, c_step);
  if (n == 1) return gemv(m, k, a, b.data, b.transposed ? 1 : b.step, beta, c, c_step);
  if (m == 1) {  // the transpose of b times a's only row
    const Matrix<T> columns = {b.data, b.step, !b.transposed};
    return gemv(n, k, columns, a.data, a.transposed ? a.step : 1, beta, c, 1);
  }
  const auto run = [&](auto function) {
    function(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans,
             b.transposed ? CblasTrans : CblasNoTrans, to_blas(m), to_blas(n), to_blas(k), T(1),
             a.data, to_blas(a.step), b.data, to_blas(b.step), beta, c, to_blas(c_step));
  };
  if constexpr (sizeof(T) == sizeof(float)) {
    run(cblas_sgemm);
  } else {
    run(cblas_dgemm);
  }
}

template void gemm<float>(int64_t, int64_t, int64_t, const Matrix<float>&, const Matrix<float>&,
                          float, float*, int64_t);
template void gemm<double>(int64_t, int64_t, int64_t, const Matrix<double>&, const Matrix<double>&,
                           double, double*, int64_t);

}  // namespace kbench::reference
