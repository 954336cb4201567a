#include <algorithm>
#include <vector>

#include "reference/arrays.h"
#include "reference/call.h"
#include "reference/parallel.h"
#include "reference/scratch.h"

namespace kbench::reference {
namespace {

/// c [m, n] = a [m, k] b [k, n] + bias [n], rows of c following each other; bias may be null.
template <class T>
struct Product {
  int64_t m, n, k;
  Matrix<T> a, b;
  const T* bias;
  T* c;
};

/// How many blocks a product is cut into along each of its extents.
struct Cut {
  int64_t rows = 1, columns = 1, depths = 1;
  int64_t blocks() const { return rows * columns * depths; }
};

/// The cut of one among `products` of those extents: enough blocks for many threads as long as each
/// is worth a task. It follows from the extents and the summation alone, and so do the bits.
Cut cut_of(int64_t m, int64_t n, int64_t k, int64_t products) {
  constexpr int64_t kWork = 1 << 20;  // multiply-adds
  constexpr int64_t kBlocks = 64, kMostSums = 1 << 22, kDeep = 32;
  const int64_t wanted = std::min(kBlocks / products, m * n * k / kWork);
  Cut cut;
  while (2 * cut.blocks() <= wanted) {
    const int64_t rows = m / cut.rows, columns = n / cut.columns;
    // A cut along k costs another sum of all of c: only products much deeper than wide get one.
    const bool deep = !is_sequential() && k / cut.depths > kDeep * std::max(rows, columns);
    if (deep && 2 * cut.depths * m * n <= kMostSums) {
      cut.depths *= 2;
    } else {
      (rows >= columns ? cut.rows : cut.columns) *= 2;
    }
  }
  return cut;
}

/// Part i of [0, n) cut into `parts`.
struct Part {
  Part(int64_t n, int64_t parts, int64_t i)
      : begin(n * i / parts), size(n * (i + 1) / parts - begin) {}
  int64_t begin, size;
};

template <class T>
void multiply(const Product<T>& p, const Cut& cut, int64_t block, T* sums) {
  const Part rows(p.m, cut.rows, block / cut.depths / cut.columns);
  const Part columns(p.n, cut.columns, block / cut.depths % cut.columns);
  const Part depths(p.k, cut.depths, block % cut.depths);
  const bool whole = cut.depths == 1;
  T* c = (whole ? p.c : sums + block % cut.depths * p.m * p.n) + rows.begin * p.n + columns.begin;
  const bool biased = whole && p.bias != nullptr;
  for (int64_t row = 0; biased && row < rows.size; ++row) {
    std::copy_n(p.bias + columns.begin, columns.size, c + row * p.n);
  }
  gemm(rows.size, columns.size, depths.size, p.a.from(rows.begin, depths.begin),
       p.b.from(depths.begin, columns.begin), T(biased), c, p.n);
}

/// The parts of sums over k, added up in their order.
template <class T>
void add_up(const Product<T>& p, const Cut& cut, const T* sums) {
  parallel_blocks(p.m, grain_of(p.n * cut.depths / 8), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      auto c = array(p.c + row * p.n, p.n);
      c = array(sums + row * p.n, p.n);
      for (int64_t i = 1; i < cut.depths; ++i) c += array(sums + (i * p.m + row) * p.n, p.n);
      if (p.bias != nullptr) c += array(p.bias, p.n);
    }
  });
}

/// `count` products of the same extents, product(i) being one of them.
template <class T, class Find>
void multiply_all(int64_t count, const Find& product) {
  const Product<T> first = product(0);
  const Cut cut = cut_of(first.m, first.n, first.k, count);
  const bool in_parts = cut.depths > 1;
  const Scratch<T> sums(in_parts ? count * cut.depths * first.m * first.n : 0);
  const auto sums_of = [&](int64_t i) {
    return in_parts ? sums.get() + i * cut.depths * first.m * first.n : nullptr;
  };
  const int64_t work = first.m * first.n * first.k / cut.blocks();
  parallel_blocks(count * cut.blocks(), grain_of(work / 16), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      multiply(product(i / cut.blocks()), cut, i % cut.blocks(), sums_of(i / cut.blocks()));
    }
  });
  for (int64_t i = 0; i < count && in_parts; ++i) add_up(product(i), cut, sums_of(i));
}

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

template <class T>
void linear(const T* x, const T* weight, const T* bias, int64_t rows, int64_t in, int64_t out,
            T* y) {
  multiply_all<T>(1, [&](int64_t) {
    return Product<T>{rows, out, in, {x, in, false}, {weight, in, true}, bias, y};
  });
}

template void linear<float>(const float*, const float*, const float*, int64_t, int64_t, int64_t,
                            float*);
template void linear<double>(const double*, const double*, const double*, int64_t, int64_t, int64_t,
                             double*);

void run_linear(const OperatorCall&, Inputs in, Outputs out) {
  const Shape& weight = in[1].shape();
  with_type(out[0], [&]<class T>() {
    linear<T>(elements<T>(in, 0), elements<T>(in, 1), elements<T>(in, 2),
              in[0].elements() / weight[1], weight[1], weight[0], result<T>(out));
  });
}

void run_matmul(const OperatorCall& call, Inputs in, Outputs out) {
  const bool transpose_a = call.attributes.flag("transpose_a");
  const bool transpose_b = call.attributes.flag("transpose_b");
  const Shape& a = in[0].shape();
  const Shape& b = in[1].shape();
  const Shape& c = out[0].shape();
  int64_t m = c[c.size() - 2];
  const int64_t n = c[c.size() - 1], k = b[b.size() - (transpose_b ? 1 : 2)];
  std::vector<int64_t> a_index = matrix_index(a, c), b_index = matrix_index(b, c);
  // One b times all matrices of a is one tall product.
  if (in[1].elements() == k * n && in[0].elements() * n == out[0].elements() * k && !transpose_a) {
    m *= static_cast<int64_t>(a_index.size());
    a_index = b_index = {0};
  }
  with_type(out[0], [&]<class T>() {
    multiply_all<T>(static_cast<int64_t>(a_index.size()), [&](int64_t i) {
      return Product<T>{
          .m = m,
          .n = n,
          .k = k,
          .a = {elements<T>(in, 0) + a_index[i] * m * k, transpose_a ? m : k, transpose_a},
          .b = {elements<T>(in, 1) + b_index[i] * k * n, transpose_b ? k : n, transpose_b},
          .bias = nullptr,
          .c = result<T>(out) + i * m * n};
    });
  });
}

}  // namespace kbench::reference
