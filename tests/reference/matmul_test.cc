#include "reference/ops/matmul.h"

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
