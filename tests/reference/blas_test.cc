#include "reference/blas.h"

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "kbench/error.h"
#include "tests/reference/arrays.h"

namespace kbench::reference {
namespace {

template <class T>
class Gemm : public ::testing::Test {};
TYPED_TEST_SUITE(Gemm, RealTypes);

/// A product whose operands' rows are further apart than they are long.
template <class T>
struct Example {
  Example(int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b)
      : m(m),
        n(n),
        k(k),
        a_values(random_array<T>((m + 3) * (k + 3), 1)),
        b_values(random_array<T>((k + 5) * (n + 5), 2)),
        a{a_values.data(), (transpose_a ? m : k) + 3, transpose_a},
        b{b_values.data(), (transpose_b ? k : n) + 5, transpose_b} {}

  void expect(T beta, const std::vector<T>& before, const std::vector<T>& after) const {
    std::vector<T> got;
    std::vector<double> truth;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < c_step(); ++j) {
        const int64_t at = i * c_step() + j;
        if (j >= n) {
          ASSERT_EQ(after[at], before[at]) << "element " << at << " lies between rows of c";
          continue;
        }
        double sum = beta == 0 ? 0 : double(beta) * before[at];
        for (int64_t l = 0; l < k; ++l) sum += double(*a.from(i, l).data) * *b.from(l, j).data;
        got.push_back(after[at]);
        truth.push_back(sum);
      }
    }
    expect_close(got, truth, static_cast<double>(k) + 1);
  }

  int64_t c_step() const { return n + 2; }

  int64_t m, n, k;
  std::vector<T> a_values, b_values;
  Matrix<T> a, b;
};

TYPED_TEST(Gemm, MatchesBruteForceOverTransposesStepsAndVectors) {
  using T = TypeParam;
  const int64_t extents[][3] = {{5, 7, 11}, {1, 13, 9},     {17, 1, 23},  {1, 1, 6},
                                {4, 3, 1},  {67, 129, 101}, {1, 300, 200}};
  for (const auto& [m, n, k] : extents) {
    for (int flags = 0; flags < 4; ++flags) {
      const Example<T> example(m, n, k, flags & 1, flags & 2);
      for (T beta : {T(0), T(1), T(0.5)}) {
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
                     ", transposed " + std::to_string(flags) + ", beta " + std::to_string(beta));
        auto c = random_array<T>(m * example.c_step(), 3);
        if (beta == 0) c[0] = std::numeric_limits<T>::quiet_NaN();  // is not looked at
        const auto before = c;
        gemm<T>(m, n, k, example.a, example.b, beta, c.data(), example.c_step());
        example.expect(beta, before, c);
      }
    }
  }
}

/// More than OpenBLAS has working memory for at a time, in its kernels for small products and in
/// the others.
TYPED_TEST(Gemm, HasTheSameBitsFromManyThreadsAtOnceAndPrintsNothing) {
  using T = TypeParam;
  const Example<T> examples[] = {
      {5, 64, 256, false, true}, {131, 137, 139, true, false}, {1, 301, 203, false, false}};
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  for (const Example<T>& example : examples) {
    const std::vector<T> none(example.m * example.c_step());
    const auto multiply = [&] {
      std::vector<T> c = none;
      gemm<T>(example.m, example.n, example.k, example.a, example.b, T(0), c.data(),
              example.c_step());
      return c;
    };
    const std::vector<T> alone = multiply();
    example.expect(0, none, alone);
    std::atomic<int> differ = 0;
    std::vector<std::thread> threads(200);
    for (std::thread& thread : threads) {
      thread = std::thread([&] {
        for (int i = 0; i < 10; ++i) differ += multiply() != alone;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(differ, 0);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

int64_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TYPED_TEST(Gemm, RunsOnTheCallingThread) {
  using T = TypeParam;
  const int64_t n = 700, before = threads_of_this_process();
  const auto a = random_array<T>(n * n, 1), b = random_array<T>(n * n, 2);
  std::vector<T> c(n * n);
  gemm<T>(n, n, n, {a.data(), n}, {b.data(), n}, T(0), c.data(), n);
  EXPECT_EQ(threads_of_this_process(), before);
}

TYPED_TEST(Gemm, RefusesWhatItsIndicesCannotCount) {
  using T = TypeParam;
  T value = 1;
  const int64_t large = int64_t{1} << 31;
  EXPECT_THROW(gemm<T>(2, 2, 2, {&value, large}, {&value, 2}, T(0), &value, 2), Error);
  EXPECT_THROW(gemm<T>(1, 2, large, {&value, large}, {&value, 2}, T(0), &value, 2), Error);
}

}  // namespace
}  // namespace kbench::reference
