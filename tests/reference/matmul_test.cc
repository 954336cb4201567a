#include "reference/ops/matmul.h"

#include <string>

#include "tests/reference/calls.h"

namespace kbench::reference {
namespace {

template <class T>
class Matmul : public ::testing::Test {};
TYPED_TEST_SUITE(Matmul, RealTypes);

struct Extents {
  int64_t m, n, k;
};

/// The operands' shapes behind their leading dimensions, a's and b's.
Shape shape_of(Shape leading, bool transposed, int64_t rows, int64_t columns) {
  leading.push_back(transposed ? columns : rows);
  leading.push_back(transposed ? rows : columns);
  return leading;
}

template <class T>
struct Product {
  Product(const Extents& e, int flags, const Shape& a_leading, const Shape& b_leading)
      : transpose_a(flags & 1),
        transpose_b(flags & 2),
        e(e),
        a(random_tensor<T>(shape_of(a_leading, transpose_a, e.m, e.k), 1)),
        b(random_tensor<T>(shape_of(b_leading, transpose_b, e.k, e.n), 2)) {}

  Tensor product() const {
    return run_call<T>(
        "matmul", {a, b},
        {{"transpose_a", int64_t{transpose_a}}, {"transpose_b", int64_t{transpose_b}}})[0];
  }

  /// Element (i, j) of the product of two of the matrices.
  double element(int64_t a_matrix, int64_t b_matrix, int64_t i, int64_t j) const {
    const auto at = [](bool transposed, int64_t row, int64_t column, int64_t rows,
                       int64_t columns) {
      return transposed ? column * rows + row : row * columns + column;
    };
    const T* left = a.template data<T>().data() + a_matrix * e.m * e.k;
    const T* right = b.template data<T>().data() + b_matrix * e.k * e.n;
    double sum = 0;
    for (int64_t k = 0; k < e.k; ++k) {
      sum += double(left[at(transpose_a, i, k, e.m, e.k)]) * right[at(transpose_b, k, j, e.k, e.n)];
    }
    return sum;
  }

  bool transpose_a, transpose_b;
  Extents e;
  Tensor a, b;
};

TYPED_TEST(Matmul, MatchesBruteForceWithTransposesAndBroadcasting) {
  using T = TypeParam;
  struct Batch {
    Shape a, b;
    std::vector<int64_t> a_index, b_index;
  };
  const Batch batches[] = {{{}, {}, {0}, {0}},
                           {{3}, {3}, {0, 1, 2}, {0, 1, 2}},
                           {{3}, {1}, {0, 1, 2}, {0, 0, 0}},
                           {{3}, {}, {0, 1, 2}, {0, 0, 0}},
                           {{1}, {3}, {0, 0, 0}, {0, 1, 2}},
                           {{1, 2}, {2, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}}};
  for (const Extents& e : {Extents{5, 7, 11}, {1, 13, 9}, {65, 3, 19}, {67, 129, 101}}) {
    for (int flags = 0; flags < 4; ++flags) {
      for (const Batch& batch : batches) {
        const Product<T> example(e, flags, batch.a, batch.b);
        std::vector<double> truth;
        for (size_t s = 0; s < batch.a_index.size(); ++s) {
          for (int64_t i = 0; i < e.m * e.n; ++i) {
            truth.push_back(example.element(batch.a_index[s], batch.b_index[s], i / e.n, i % e.n));
          }
        }
        expect_close(values_of<T>(example.product()), truth, static_cast<double>(e.k));
      }
    }
  }
}

/// Skinny, deep and large: cut along rows, columns and the sum.
TYPED_TEST(Matmul, EveryCutMatchesBruteForce) {
  using T = TypeParam;
  for (const Extents& e : {Extents{3, 211, 1043},
                           {1, 517, 4300},
                           {517, 1, 4510},
                           {13, 130, 2050},
                           {31, 17, 17003},
                           {1, 1, 2200009},
                           {5, 1, 433001},
                           {17, 19, 33001},
                           {1201, 1013, 67},
                           {259, 47, 530}}) {
    for (int flags : {0, 3}) {
      SCOPED_TRACE(std::to_string(e.m) + " x " + std::to_string(e.n) + " x " + std::to_string(e.k) +
                   ", transposed " + std::to_string(flags));
      const Product<T> example(e, flags, {}, {});
      const std::vector<T> c = values_of<T>(example.product());
      std::mt19937 engine(5);
      std::vector<T> got;
      std::vector<double> truth;
      for (int sample = 0; sample < 100; ++sample) {
        const auto i = static_cast<int64_t>(engine() % e.m);
        const auto j = static_cast<int64_t>(engine() % e.n);
        got.push_back(c[i * e.n + j]);
        truth.push_back(example.element(0, 0, i, j));
        if (e.m * e.n == 1) break;
      }
      expect_close(got, truth, 8 * std::sqrt(static_cast<double>(e.k)));
    }
  }
}

TYPED_TEST(Matmul, LinearAddsItsBiasToEveryKindOfBlock) {
  using T = TypeParam;
  for (const Extents& e :
       {Extents{1, 77, 203}, {6, 77, 203}, {131, 77, 203}, {211, 307, 103}, {3, 5, 150007}}) {
    const Product<T> example(e, 2, {}, {});
    const auto bias = random_array<T>(e.n, 3);
    std::vector<double> truth;
    for (int64_t i = 0; i < e.m * e.n; ++i)
      truth.push_back(example.element(0, 0, i / e.n, i % e.n));
    const T* x = example.a.template data<T>().data();
    const T* weight = example.b.template data<T>().data();
    std::vector<T> y(e.m * e.n);
    linear<T>(x, weight, nullptr, e.m, e.k, e.n, y.data());
    expect_close(y, truth, static_cast<double>(e.k));
    for (int64_t i = 0; i < e.m * e.n; ++i) truth[i] += bias[i % e.n];
    linear<T>(x, weight, bias.data(), e.m, e.k, e.n, y.data());
    expect_close(y, truth, static_cast<double>(e.k));
  }
}

}  // namespace
}  // namespace kbench::reference
