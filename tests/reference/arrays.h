// Random arrays and comparisons for the operators' tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace kbench::reference {

/// Normal values, the same on every run.
template <class T>
std::vector<T> random_array(int64_t n, uint32_t seed = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values(n);
  for (T& v : values) v = static_cast<T>(normal(engine));
  return values;
}

/// Every element within `ulps` rounding errors of T at the truth's largest magnitude: for a sum of
/// n products of order 1, errors grow like sqrt(n) ulps and are bounded by n.
template <class T>
void expect_close(const std::vector<T>& got, const std::vector<double>& truth, double ulps) {
  ASSERT_EQ(got.size(), truth.size());
  double scale = 0;
  for (double t : truth) scale = std::max(scale, std::abs(t));
  const double bound = ulps * std::numeric_limits<T>::epsilon() * scale;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(got[i]), truth[i], bound) << "element " << i;
  }
}

using RealTypes = ::testing::Types<float, double>;

}  // namespace kbench::reference
