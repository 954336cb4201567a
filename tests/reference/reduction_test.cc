#include "tests/reference/calls.h"

namespace kbench::reference {
namespace {

template <class T>
class Reduction : public ::testing::Test {};
TYPED_TEST_SUITE(Reduction, RealTypes);

/// A tensor as [outer, n, inner]; operators run along n.
struct Axis {
  int64_t outer, n, inner;
};

template <class T>
Tensor along(const Axis& axis, const std::vector<T>& x) {
  return tensor_of<T>({axis.outer, axis.n, axis.inner}, x);
}

/// The values of a reduction, whose extents are [outer, inner], or of a scan.
template <class T, class Y = T>
std::vector<Y> run_along(const char* op, const Axis& axis, const std::vector<T>& x) {
  return values_of<Y>(run_call<T>(op, {along(axis, x)}, {{"axis", int64_t{1}}})[0]);
}
template <class T>
std::vector<T> scan_along(const char* op, const Axis& axis, const std::vector<T>& x) {
  return run_twice<T>(op, {along(axis, x)}, {{"axis", int64_t{1}}});
}

// Last, first and middle dimensions; inner extents around a column block's edges.
const Axis kAxes[] = {{5, 37, 1},  {1, 9001, 1}, {3, 200003, 1}, {1, 13, 7},   {3, 21, 63},
                      {2, 19, 65}, {3, 5, 131},  {7, 1, 3},      {2, 3001, 70}};

template <class T, class F>
void for_lines(const std::vector<T>& x, const Axis& axis, F f) {
  for (int64_t o = 0; o < axis.outer; ++o) {
    for (int64_t i = 0; i < axis.inner; ++i) {
      f(o * axis.inner + i,
        [&, o, i](int64_t j) { return static_cast<double>(x[(o * axis.n + j) * axis.inner + i]); });
    }
  }
}

template <class T>
std::vector<T> data_of(const Axis& axis) {
  return random_array<T>(axis.outer * axis.n * axis.inner);
}

TYPED_TEST(Reduction, SumsAlongAnyAxis) {
  using T = TypeParam;
  for (const Axis& axis : kAxes) {
    const auto x = data_of<T>(axis);
    const auto y = run_along("sum", axis, x), means = run_along("mean", axis, x);
    std::vector<double> truth(y.size()), mean_truth(y.size());
    double magnitude = 0;
    for_lines(x, axis, [&](int64_t at, auto element) {
      long double exact = 0;
      for (int64_t j = 0; j < axis.n; ++j) exact += element(j);
      truth[at] = static_cast<double>(exact);
      mean_truth[at] = static_cast<double>(exact / static_cast<long double>(axis.n));
      magnitude = std::max(magnitude, std::abs(truth[at]));
    });
    // Additions of four elements round in T, each sum below 8 in size; their errors add like a
    // walk's steps. In double the running sum rounds too, growing as a walk itself.
    const double steps = std::sqrt(static_cast<double>(axis.n));
    const double ulps = 4 + (sizeof(T) == 4 ? 16 * steps : 2 * steps * steps) / magnitude;
    expect_close(y, truth, ulps);
    expect_close(means, mean_truth, ulps);
  }
}

TYPED_TEST(Reduction, NormsAlongAnyAxis) {
  using T = TypeParam;
  for (const Axis& axis : kAxes) {
    const auto x = data_of<T>(axis);
    const auto y = run_along("norm", axis, x);
    std::vector<double> truth(y.size());
    for_lines(x, axis, [&](int64_t at, auto element) {
      long double squares = 0;
      for (int64_t j = 0; j < axis.n; ++j) {
        squares += static_cast<long double>(element(j)) * element(j);
      }
      truth[at] = static_cast<double>(std::sqrt(squares));
    });
    // Of positive terms: what is rounded is a few units of each, whatever n, and halved by the
    // root; in double the running sum rounds too.
    expect_close(y, truth, sizeof(T) == 4 ? 4 : 4 + std::sqrt(static_cast<double>(axis.n)));
  }
}

TYPED_TEST(Reduction, SumOfSixteenMillionIsAccurate) {
  const std::vector<TypeParam> x(1 << 24, TypeParam(0.1));
  const TypeParam y = run_along("sum", {1, 1 << 24, 1}, x)[0];
  // The accumulator is double for both: its 2^24 / 64 additions of one sign may drift by as much.
  EXPECT_NEAR(y / (static_cast<double>(TypeParam(0.1)) * (1 << 24)), 1,
              std::max<double>(2 * std::numeric_limits<TypeParam>::epsilon(), 6e-11));
}

TYPED_TEST(Reduction, ArgmaxFindsTheFirstLargest) {
  using T = TypeParam;
  for (const Axis& axis : kAxes) {
    auto x = data_of<T>(axis);
    for (T& v : x) v = std::round(v);  // many ties
    const auto y = run_along<T, int64_t>("argmax", axis, x);
    for_lines(x, axis, [&](int64_t at, auto element) {
      int64_t best = 0;
      for (int64_t j = 1; j < axis.n; ++j) {
        if (element(j) > element(best)) best = j;
      }
      ASSERT_EQ(y[at], best);
    });
  }
}

TYPED_TEST(Reduction, ArgmaxTakesTheFirstNanForTheLargest) {
  using T = TypeParam;
  for (const Axis& axis : {Axis{3, 77, 1}, Axis{3, 29, 5}, Axis{1, 3, 1}}) {
    auto x = data_of<T>(axis);
    for (int64_t o = 0; o < axis.outer; ++o) {
      for (int64_t i = 0; i < axis.inner; ++i) {
        x[(o * axis.n + axis.n - 2) * axis.inner + i] = std::numeric_limits<T>::quiet_NaN();
        x[(o * axis.n + axis.n - 1) * axis.inner + i] = std::numeric_limits<T>::quiet_NaN();
      }
    }
    const auto y = run_along<T, int64_t>("argmax", axis, x);
    for (int64_t at : y) EXPECT_EQ(at, axis.n - 2);
  }
}

TYPED_TEST(Reduction, ExtremesAndTheirFirstPlaces) {
  using T = TypeParam;
  for (const Axis& axis : kAxes) {
    auto x = data_of<T>(axis);
    for (T& v : x) v = std::round(v);  // many ties
    const auto largest = run_along("max", axis, x), smallest = run_along("min", axis, x);
    const auto at_smallest = run_along<T, int64_t>("argmin", axis, x);
    for_lines(x, axis, [&](int64_t at, auto element) {
      int64_t high = 0, low = 0;
      for (int64_t j = 1; j < axis.n; ++j) {
        if (element(j) > element(high)) high = j;
        if (element(j) < element(low)) low = j;
      }
      ASSERT_EQ(largest[at], element(high));
      ASSERT_EQ(smallest[at], element(low));
      ASSERT_EQ(at_smallest[at], low);
    });
  }
}

TYPED_TEST(Reduction, NanIsBothLargestAndSmallest) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const Axis& axis : {Axis{3, 77, 1}, Axis{3, 29, 5}, Axis{1, 3, 1}}) {
    for (int64_t place : {int64_t{0}, int64_t{1}, axis.n - 1}) {
      auto x = data_of<T>(axis);
      for (int64_t o = 0; o < axis.outer; ++o) {
        std::fill_n(x.begin() + (o * axis.n + place) * axis.inner, axis.inner, nan);
      }
      for (const char* op : {"max", "min", "logsumexp"}) {
        for (T v : run_along(op, axis, x)) EXPECT_TRUE(std::isnan(v)) << op;
      }
      for (int64_t i : run_along<T, int64_t>("argmin", axis, x)) EXPECT_EQ(i, place);
    }
  }
}

TYPED_TEST(Reduction, CumprodRunsAlongAnyAxis) {
  using T = TypeParam;
  for (const Axis& axis : kAxes) {
    auto x = data_of<T>(axis);
    for (T& v : x) v = T(1) + v / T(100);  // products that stay in range
    const auto y = scan_along("cumprod", axis, x);
    for_lines(x, axis, [&](int64_t at, auto element) {
      double product = 1;
      for (int64_t j = 0; j < axis.n; ++j) {
        product *= element(j);
        const T got = y[(at / axis.inner * axis.n + j) * axis.inner + at % axis.inner];
        ASSERT_EQ(got, static_cast<T>(product));  // in double, rounded once
      }
    });
  }
}

TYPED_TEST(Reduction, LogsumexpAndLogSoftmaxAlongAnyAxis) {
  using T = TypeParam;
  for (const Axis& axis : kAxes) {
    auto x = data_of<T>(axis);
    for (T& v : x) v *= 50;  // exp overflows float without the maximum taken off
    const auto sums = run_along("logsumexp", axis, x), y = scan_along("log_softmax", axis, x);
    std::vector<double> sums_truth(sums.size()), truth(x.size());
    for_lines(x, axis, [&](int64_t at, auto element) {
      double max = element(0);
      long double sum = 0;
      for (int64_t j = 0; j < axis.n; ++j) max = std::max(max, element(j));
      for (int64_t j = 0; j < axis.n; ++j) sum += std::exp(element(j) - max);
      sums_truth[at] = max + static_cast<double>(std::log(sum));
      for (int64_t j = 0; j < axis.n; ++j) {
        truth[(at / axis.inner * axis.n + j) * axis.inner + at % axis.inner] =
            element(j) - sums_truth[at];
      }
    });
    expect_close(sums, sums_truth, 4);
    expect_close(y, truth, 4);
  }
}

TYPED_TEST(Reduction, LogsumexpOfInfinitiesIsTheLargest) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  for (int64_t inner : {1, 3}) {
    for (T value : {-inf, inf}) {
      std::vector<T> x(5 * inner, -inf);
      std::fill_n(x.begin() + inner, inner, value);
      for (T v : run_along("logsumexp", {1, 5, inner}, x)) EXPECT_EQ(v, value);
    }
  }
}

TYPED_TEST(Reduction, CumsumRunsAlongAnyAxis) {
  using T = TypeParam;
  for (const Axis& axis : kAxes) {
    const auto x = data_of<T>(axis);
    const auto y = scan_along("cumsum", axis, x);
    for_lines(x, axis, [&](int64_t at, auto element) {
      double sum = 0;
      for (int64_t j = 0; j < axis.n; ++j) {
        sum += element(j);
        const T got = y[(at / axis.inner * axis.n + j) * axis.inner + at % axis.inner];
        ASSERT_EQ(got, static_cast<T>(sum));  // in double, rounded once
      }
    });
  }
}

TYPED_TEST(Reduction, SoftmaxAlongAnyAxis) {
  using T = TypeParam;
  for (const Axis& axis : kAxes) {
    auto x = data_of<T>(axis);
    for (T& v : x) v *= 20;
    const auto y = scan_along("softmax", axis, x);
    std::vector<double> truth(x.size());
    for_lines(x, axis, [&](int64_t at, auto element) {
      double max = element(0);
      long double sum = 0;
      for (int64_t j = 0; j < axis.n; ++j) max = std::max(max, element(j));
      for (int64_t j = 0; j < axis.n; ++j) sum += std::exp(element(j) - max);
      for (int64_t j = 0; j < axis.n; ++j) {
        truth[(at / axis.inner * axis.n + j) * axis.inner + at % axis.inner] =
            static_cast<double>(std::exp(element(j) - max) / sum);
      }
    });
    expect_close(y, truth, 8 + std::sqrt(sizeof(T) == 4 ? 0.0 : static_cast<double>(axis.n)));
  }
}

TYPED_TEST(Reduction, SoftmaxGivesMaskedElementsZeroAndSpreadsNan) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (int64_t inner : {1, 2}) {
    std::vector<T> x(5 * inner, T(1));
    std::fill_n(x.begin(), inner, -inf);
    const auto y = run_along("softmax", {1, 5, inner}, x);
    EXPECT_EQ(y[0], T(0));
    EXPECT_EQ(y[inner], T(0.25));
    std::fill_n(x.begin(), inner, nan);
    for (T v : run_along("softmax", {1, 5, inner}, x)) EXPECT_TRUE(std::isnan(v));
  }
}

}  // namespace
}  // namespace kbench::reference
