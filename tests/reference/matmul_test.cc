#include "reference/ops/matmul.h"

#include <tbb/task_arena.h>

#include <string>

#include "tests/reference/arrays.h"

namespace kbench::reference {
namespace {

template <class T>
class Matmul : public ::testing::Test {};
TYPED_TEST_SUITE(Matmul, RealTypes);

template <class T>
std::vector<double> brute_force(const Product& p, const std::vector<int64_t>& ia,
                                const std::vector<int64_t>& ib, const std::vector<T>& a,
                                const std::vector<T>& b) {
  std::vector<double> c;
  for (size_t s = 0; s < ia.size(); ++s) {
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < p.k; ++k) {
          sum += double(a[ia[s] * p.m * p.k + (p.transpose_a ? k * p.m + i : i * p.k + k)]) *
                 b[ib[s] * p.k * p.n + (p.transpose_b ? j * p.k + k : k * p.n + j)];
        }
        c.push_back(sum);
      }
    }
  }
  return c;
}

TYPED_TEST(Matmul, MatchesBruteForceWithTransposesAndBroadcasting) {
  using T = TypeParam;
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> batches = {
      {{0}, {0}},
      {{0, 1, 2}, {0, 1, 2}},
      {{0, 1, 2}, {0, 0, 0}},
      {{0, 0, 0}, {0, 1, 2}},
      {{0, 1, 0, 1}, {0, 0, 1, 1}}};
  const Product shapes[] = {{5, 7, 11}, {1, 13, 9}, {65, 3, 19}, {67, 129, 101}};
  for (Product p : shapes) {
    const auto a = random_array<T>(4 * p.m * p.k, 1), b = random_array<T>(4 * p.k * p.n, 2);
    for (int flags = 0; flags < 4; ++flags) {
      p.transpose_a = flags & 1;
      p.transpose_b = flags & 2;
      for (const auto& [ia, ib] : batches) {
        std::vector<T> c(ia.size() * p.m * p.n);
        matmul<T>(p, ia, ib, a.data(), b.data(), c.data());
        expect_close(c, brute_force(p, ia, ib, a, b), static_cast<double>(p.k));
      }
    }
  }
}

/// Random samples of a product's elements, for products too large to be solved whole.
template <class T>
void expect_samples(const Product& p, const std::vector<T>& a, const std::vector<T>& b,
                    const std::vector<T>& c) {
  std::mt19937 engine(5);
  std::vector<T> got;
  std::vector<double> truth;
  for (int s = 0; s < 200; ++s) {
    const auto i = static_cast<int64_t>(engine() % p.m), j = static_cast<int64_t>(engine() % p.n);
    double sum = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      sum += double(a[p.transpose_a ? k * p.m + i : i * p.k + k]) *
             b[p.transpose_b ? j * p.k + k : k * p.n + j];
    }
    got.push_back(c[i * p.n + j]);
    truth.push_back(sum);
  }
  expect_close(got, truth, 4 * std::sqrt(static_cast<double>(p.k)));
}

/// Skinny, deep and large: dots, sums cut into parts, several passes over packed operands.
TYPED_TEST(Matmul, EveryWayToMultiplyMatchesBruteForce) {
  using T = TypeParam;
  const Product shapes[] = {{3, 211, 1043},  {211, 3, 1043},  {1, 517, 129},    {517, 1, 2051},
                            {13, 130, 2050}, {31, 17, 17003}, {1, 1, 40009},    {5, 1, 33001},
                            {37, 211, 1043}, {9, 1031, 517},  {1201, 1013, 67}, {259, 47, 530}};
  for (Product p : shapes) {
    const auto a = random_array<T>(p.m * p.k, 1), b = random_array<T>(p.k * p.n, 2);
    for (int flags = 0; flags < 4; ++flags) {
      p.transpose_a = flags & 1;
      p.transpose_b = flags & 2;
      SCOPED_TRACE(std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) +
                   ", transposed " + std::to_string(flags));
      const std::vector<int64_t> first = {0};
      std::vector<T> c(p.m * p.n, std::numeric_limits<T>::quiet_NaN());
      matmul<T>(p, first, first, a.data(), b.data(), c.data());
      expect_samples(p, a, b, c);
    }
  }
}

TYPED_TEST(Matmul, IsTheSameOnAnyNumberOfThreads) {
  using T = TypeParam;
  for (Product p : {Product{131, 203, 1043}, Product{31, 17, 17003}, Product{7, 501, 2049}}) {
    p.transpose_b = true;
    const auto a = random_array<T>(p.m * p.k, 1), b = random_array<T>(p.k * p.n, 2);
    const std::vector<int64_t> first = {0};
    std::vector<T> results[2];
    for (int threads : {1, 2}) {
      std::vector<T>& c = results[threads - 1];
      c.resize(p.m * p.n);
      tbb::task_arena(threads).execute(
          [&] { matmul<T>(p, first, first, a.data(), b.data(), c.data()); });
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

TYPED_TEST(Matmul, LinearAddsItsBias) {
  using T = TypeParam;
  for (int64_t rows : {1, 6, 131}) {
    const Product p = {rows, 77, 203, false, true};
    const auto x = random_array<T>(rows * p.k, 1), w = random_array<T>(p.n * p.k, 2),
               bias = random_array<T>(p.n, 3);
    auto truth = brute_force(p, {0}, {0}, x, w);
    std::vector<T> y(rows * p.n);
    linear<T>(x.data(), w.data(), nullptr, rows, p.k, p.n, y.data());
    expect_close(y, truth, static_cast<double>(p.k));
    for (int64_t i = 0; i < rows * p.n; ++i) truth[i] += bias[i % p.n];
    linear<T>(x.data(), w.data(), bias.data(), rows, p.k, p.n, y.data());
    expect_close(y, truth, static_cast<double>(p.k));
  }
}

}  // namespace
}  // namespace kbench::reference
