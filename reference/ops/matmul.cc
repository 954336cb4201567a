#include "reference/ops/matmul.h"

#include <algorithm>
#include <vector>

#include "reference/call.h"
#include "reference/ops/blocked_product.h"
#include "reference/parallel.h"
#include "reference/scratch.h"
#include "reference/simd/kernels.h"

namespace kbench::reference {
namespace {

constexpr int64_t kSmall = 1 << 18;  // multiply-adds that one thread is done with soonest

/// Whether rows of a and columns of b are multiplied where they lie: both depth by depth, and
/// one side with so few that the other is read once.
template <class T>
bool by_dots(const BlockedProduct<T>& p) {
  return p.a.depth_step == 1 && p.b.depth_step == 1 && std::min(p.m, p.n) <= 16;
}

/// Rows [first, last) of the longer side of a product by dots.
template <class T>
void run_dots(const BlockedProduct<T>& p, int64_t first, int64_t last) {
  constexpr int64_t kDepth = 1024;  // what is read again stays in the first-level cache
  const bool rows = p.m > p.n;
  const ProductOperand<T> a = p.a.at(rows ? first : 0, 0), b = p.b.at(rows ? 0 : first, 0);
  T* c = p.c + (rows ? first * p.c_step : first);
  const T* bias = p.bias == nullptr || rows ? p.bias : p.bias + first;
  const auto m = static_cast<int>(rows ? last - first : p.m);
  const auto n = static_cast<int>(rows ? p.n : last - first);
  for (int64_t k = 0; k < p.k; k += kDepth) {
    kernels<T>().dots(m, n,
                      {.depth = std::min(kDepth, p.k - k),
                       .a = a.data + k,
                       .a_row = a.step,
                       .a_col = 1,
                       .b = b.data + k,
                       .b_row = b.step,
                       .start = k == 0 ? bias : c,
                       .start_row = k == 0 ? 0 : p.c_step,
                       .c = c,
                       .c_row = p.c_step});
  }
}

/// One product on this thread.
template <class T>
void multiply_here(const BlockedProduct<T>& p) {
  if (by_dots(p)) return run_dots(p, 0, std::max(p.m, p.n));
  run_serial(p);
}

/// How many parts the sum over k is cut into: more than one where m and n leave threads little to
/// share. It depends on the extents alone, and so does the result.
template <class T>
int64_t depth_parts(const BlockedProduct<T>& p) {
  constexpr int64_t kLeastDepth = 2048, kMostParts = 64, kMostSums = 1 << 22;
  if (p.k < 8 * kLeastDepth || p.k < 32 * std::max(p.m, p.n)) return 1;
  return std::min({p.k / kLeastDepth, kMostParts, kMostSums / (p.m * p.n)});
}

/// Parts of the sum over k, each on one thread, then their sum.
template <class T>
void multiply_in_parts(const BlockedProduct<T>& p, int64_t parts) {
  const int64_t size = p.m * p.n;
  const Scratch<T> sums(parts * size);
  parallel_tasks(parts, [&](int64_t i) {
    const int64_t begin = p.k * i / parts;
    BlockedProduct<T> part = p;
    part.k = p.k * (i + 1) / parts - begin;
    part.a = p.a.at(0, begin);
    part.b = p.b.at(0, begin);
    part.bias = nullptr;
    part.c = sums.get() + i * size;
    part.c_step = p.n;
    multiply_here(part);
  });
  parallel_for(p.m, grain_of(p.n * parts), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      T* c = p.c + row * p.c_step;
      const T* from = sums.get() + row * p.n;
      for (int64_t i = 1; i < parts; ++i) {
        kernels<T>().binary(Binary::add, i == 1 ? from : c, from + i * size, c, p.n);
      }
      if (p.bias != nullptr) kernels<T>().binary(Binary::add, c, p.bias, c, p.n);
    }
  });
}

/// One product on all threads.
template <class T>
void multiply(const BlockedProduct<T>& p) {
  if (p.n == 1 && p.c_step == 1 && p.bias == nullptr && !by_dots(p)) {  // a row instead of a column
    return multiply(BlockedProduct<T>{1, p.m, p.k, p.b, p.a, nullptr, p.c, p.m});
  }
  if (const int64_t parts = depth_parts(p); parts > 1) return multiply_in_parts(p, parts);
  if (p.m * p.n * p.k < kSmall) return multiply_here(p);
  if (!by_dots(p)) return run_parallel(p);
  const int64_t least = std::min(p.m, p.n), most = std::max(p.m, p.n), block = 4;
  parallel_for(
      (most + block - 1) / block, grain_of(block * least * p.k / 8),
      [&](int64_t begin, int64_t end) { run_dots(p, begin * block, std::min(end * block, most)); });
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
  const auto product = [&](int64_t i) {
    const ProductOperand<T> left = {a + a_index[i] * p.m * p.k, p.transpose_a ? 1 : p.k,
                                    p.transpose_a ? p.m : 1};
    const ProductOperand<T> right = {b + b_index[i] * p.k * p.n, p.transpose_b ? p.k : 1,
                                     p.transpose_b ? 1 : p.n};
    return BlockedProduct<T>{p.m, p.n, p.k, left, right, nullptr, c + i * p.m * p.n, p.n};
  };
  // Large products are cut one by one; many are dealt out whole, some by shares of their rows.
  constexpr int64_t kLeastRows = 64;
  const int64_t threads = thread_count(), work = p.m * p.n * p.k, wanted = 8 * threads;
  if (products <= 1 || (products < wanted && work >= 4 * kSmall * threads)) {
    for (int64_t i = 0; i < products; ++i) multiply(product(i));
    return;
  }
  const bool cut = products < wanted && work >= 8 * kSmall && !by_dots(product(0));
  const int64_t shares =
      cut ? std::clamp<int64_t>(p.m / kLeastRows, 1, (wanted + products - 1) / products) : 1;
  parallel_for(products * shares, grain_of(work / shares / 8), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      BlockedProduct<T> part = product(i / shares);
      const int64_t first = p.m * (i % shares) / shares;
      part.m = p.m * (i % shares + 1) / shares - first;
      part.a = part.a.at(first, 0);
      part.c += first * part.c_step;
      multiply_here(part);
    }
  });
}

template <class T>
void linear(const T* x, const T* weight, const T* bias, int64_t rows, int64_t in, int64_t out,
            T* y) {
  multiply(BlockedProduct<T>{rows, out, in, {x, in, 1}, {weight, in, 1}, bias, y, out});
}

template void matmul<float>(const Product&, std::span<const int64_t>, std::span<const int64_t>,
                            const float*, const float*, float*);
template void matmul<double>(const Product&, std::span<const int64_t>, std::span<const int64_t>,
                             const double*, const double*, double*);
template void linear<float>(const float*, const float*, const float*, int64_t, int64_t, int64_t,
                            float*);
template void linear<double>(const double*, const double*, const double*, int64_t, int64_t, int64_t,
                             double*);

namespace {

/// For each product of the output's leading dimensions, which matrix of an input it reads.
std::vector<int64_t> matrix_index(const Shape& input, const Shape& output) {
  std::vector<int64_t> index = {0};
  int64_t stride = 1;
  for (size_t i = 2; i < output.size(); ++i) {  // from the innermost leading dimension
    const int64_t extent = output[output.size() - 1 - i];
    const int64_t own = i < input.size() ? input[input.size() - 1 - i] : 1;
    const auto inner = static_cast<int64_t>(index.size());
    index.resize(static_cast<size_t>(inner * extent));
    for (int64_t j = inner; j < inner * extent; ++j) {
      index[j] = index[j % inner] + (own == 1 ? 0 : j / inner * stride);
    }
    stride *= own;
  }
  return index;
}

}  // namespace

void run_matmul(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& a = in[0].shape();
  const Shape& c = out[0].shape();
  Product product;
  product.transpose_a = call.attributes.flag("transpose_a");
  product.transpose_b = call.attributes.flag("transpose_b");
  product.m = c[c.size() - 2];
  product.n = c[c.size() - 1];
  product.k = a[a.size() - (product.transpose_a ? 2 : 1)];
  with_type(out[0], [&]<class T>() {
    matmul<T>(product, matrix_index(a, c), matrix_index(in[1].shape(), c), elements<T>(in, 0),
              elements<T>(in, 1), out[0].data<T>().data());
  });
}

void run_linear(const OperatorCall&, Inputs in, Outputs out) {
  const Shape& weight = in[1].shape();
  with_type(out[0], [&]<class T>() {
    linear<T>(elements<T>(in, 0), elements<T>(in, 1), elements<T>(in, 2),
              in[0].elements() / weight[1], weight[1], weight[0], out[0].data<T>().data());
  });
}

}  // namespace kbench::reference
