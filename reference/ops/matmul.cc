#include "reference/ops/matmul.h"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <string>

#include "kbench/error.h"
#include "reference/ops/blocked_product.h"
#include "reference/parallel.h"
#include "reference/simd/kernels.h"

namespace kbench::reference {
namespace {

/// One thread a call: the threads are ours, and BLAS's own would compete with them.
void use_one_blas_thread() {
  static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

void blas(const Product& p, const float* a, const float* b, float* c, int64_t lda, int64_t ldb,
          int64_t ldc, bool accumulate) {
  cblas_sgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans,
              p.transpose_b ? CblasTrans : CblasNoTrans, static_cast<blasint>(p.m),
              static_cast<blasint>(p.n), static_cast<blasint>(p.k), 1.0f, a,
              static_cast<blasint>(lda), b, static_cast<blasint>(ldb), accumulate ? 1.0f : 0.0f, c,
              static_cast<blasint>(ldc));
}

void blas(const Product& p, const double* a, const double* b, double* c, int64_t lda, int64_t ldb,
          int64_t ldc, bool accumulate) {
  cblas_dgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans,
              p.transpose_b ? CblasTrans : CblasNoTrans, static_cast<blasint>(p.m),
              static_cast<blasint>(p.n), static_cast<blasint>(p.k), 1.0, a,
              static_cast<blasint>(lda), b, static_cast<blasint>(ldb), accumulate ? 1.0 : 0.0, c,
              static_cast<blasint>(ldc));
}

/// How many rows and columns of blocks one product is cut into.
struct Grid {
  int64_t rows = 1, cols = 1;
};

/// As many blocks as there are threads, as square as the product allows; one where it is small.
Grid grid_of(const Product& p) {
  constexpr int64_t kLeastWork = 1 << 18;  // multiply-adds a block
  constexpr int64_t kLeastExtent = 16;
  const int64_t blocks = std::min(thread_count(), p.m * p.n * p.k / kLeastWork);
  Grid best;
  double best_cost = std::numeric_limits<double>::max();
  for (int64_t rows = 1; rows <= blocks; ++rows) {
    const int64_t cols = blocks / rows;
    if ((rows > 1 && p.m / rows < kLeastExtent) || (cols > 1 && p.n / cols < kLeastExtent))
      continue;
    const double area = double(p.m) / rows * double(p.n) / cols;
    const double cost = area + double(p.m) / rows + double(p.n) / cols;
    if (cost < best_cost) {
      best_cost = cost;
      best = {rows, cols};
    }
  }
  return best;
}

/// c = a b, or c + a b where c holds `bias` in every row.
template <class T>
void product(const Product& p, Grid grid, const T* a, const T* b, const T* bias, T* c) {
  const int64_t lda = p.transpose_a ? p.m : p.k, ldb = p.transpose_b ? p.k : p.n;
  parallel_for(grid.rows * grid.cols, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / grid.cols, col = i % grid.cols;
      const int64_t m0 = p.m * row / grid.rows, m1 = p.m * (row + 1) / grid.rows;
      const int64_t n0 = p.n * col / grid.cols, n1 = p.n * (col + 1) / grid.cols;
      Product block = p;
      block.m = m1 - m0;
      block.n = n1 - n0;
      T* out = c + m0 * p.n + n0;
      if (bias != nullptr) {
        for (int64_t r = 0; r < block.m; ++r) std::copy(bias + n0, bias + n1, out + r * p.n);
      }
      blas(block, a + (p.transpose_a ? m0 : m0 * lda), b + (p.transpose_b ? n0 * ldb : n0), out,
           lda, ldb, p.n, bias != nullptr);
    }
  });
}

void require_blas_extents(const Product& p) {
  constexpr int64_t kMost = std::numeric_limits<blasint>::max();
  if (p.m > kMost || p.n > kMost || p.k > kMost) {
    throw Error(ErrorCode::kUnsupported, "a matrix product " + std::to_string(p.m) + " x " +
                                             std::to_string(p.n) + " x " + std::to_string(p.k) +
                                             " exceeds BLAS's 32-bit extents");
  }
}

bool consecutive(std::span<const int64_t> index) {
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

}  // namespace

template <class T>
void matmul(const Product& given, std::span<const int64_t> a_index,
            std::span<const int64_t> b_index, const T* a, const T* b, T* c) {
  Product p = given;
  auto products = static_cast<int64_t>(a_index.size());
  const bool same_b = std::all_of(b_index.begin(), b_index.end(), [](int64_t i) { return i == 0; });
  if (products > 1 && same_b && !p.transpose_a && consecutive(a_index)) {
    p.m *= products;  // one tall product
    products = 1;
  }
  require_blas_extents(p);
  use_one_blas_thread();
  // Few large products are cut one by one; many are dealt out whole.
  const bool cut = products < thread_count();
  const bool own = blocked_product_pays<T>(p);
  parallel_for(cut ? 1 : products, grain_of(p.m * p.n * p.k / 8), [&](int64_t begin, int64_t end) {
    if (cut) end = products;
    for (int64_t i = begin; i < end; ++i) {
      const T* left = a + a_index[i] * p.m * p.k;
      const T* right = b + b_index[i] * p.k * p.n;
      T* out = c + i * p.m * p.n;
      if (own) {
        blocked_product<T>(p, cut, left, right, out);
      } else {
        product<T>(p, cut ? grid_of(p) : Grid{}, left, right, nullptr, out);
      }
    }
  });
}

template <class T>
void linear(const T* x, const T* weight, const T* bias, int64_t rows, int64_t in, int64_t out,
            T* y) {
  if (rows == 1) {  // bound by reading the weight once
    return parallel_for(out, grain_of(in / 4), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        y[j] = kernels<T>().dot(x, weight + j * in, in) + (bias != nullptr ? bias[j] : T(0));
      }
    });
  }
  const Product p = {.m = rows, .n = out, .k = in, .transpose_b = true};
  require_blas_extents(p);
  use_one_blas_thread();
  product<T>(p, grid_of(p), x, weight, bias, y);
}

template void matmul<float>(const Product&, std::span<const int64_t>, std::span<const int64_t>,
                            const float*, const float*, float*);
template void matmul<double>(const Product&, std::span<const int64_t>, std::span<const int64_t>,
                             const double*, const double*, double*);
template void linear<float>(const float*, const float*, const float*, int64_t, int64_t, int64_t,
                            float*);
template void linear<double>(const double*, const double*, const double*, int64_t, int64_t, int64_t,
                             double*);

}  // namespace kbench::reference
