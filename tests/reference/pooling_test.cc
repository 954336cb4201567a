#include "reference/ops/pooling.h"

#include "reference/windows.h"
#include "tests/reference/arrays.h"

namespace kbench::reference {
namespace {

TEST(Inside, AgreesWithTryingEveryOutput) {
  for (int64_t offset = -7; offset <= 7; ++offset) {
    for (int64_t stride : {1, 2, 3, 5}) {
      for (int64_t in : {1, 4, 9}) {
        for (int64_t out : {1, 3, 8}) {
          const Range range = inside(offset, stride, in, out);
          for (int64_t o = 0; o < out; ++o) {
            const int64_t at = o * stride + offset;
            EXPECT_EQ(o >= range.begin && o < range.end, at >= 0 && at < in)
                << offset << " " << stride << " " << in << " " << o;
          }
          EXPECT_LE(range.begin, range.end);
        }
      }
    }
  }
}

template <class T>
class MaxPool : public ::testing::Test {};
TYPED_TEST_SUITE(MaxPool, RealTypes);

TYPED_TEST(MaxPool, MatchesBruteForceAndSpreadsNan) {
  using T = TypeParam;
  const Window2d windows[] = {{{2, 2}, {2, 2}, {0, 0}, {1, 1}},
                              {{3, 3}, {1, 1}, {1, 1}, {1, 1}},
                              {{2, 3}, {2, 3}, {1, 1}, {3, 2}},
                              {{5, 1}, {1, 5}, {2, 0}, {2, 1}}};
  const std::array<int64_t, 2> in = {19, 23};
  constexpr int64_t kPlanes = 6;
  for (const Window2d& w : windows) {
    std::array<int64_t, 2> out;
    for (int i = 0; i < 2; ++i) {
      out[i] = (in[i] + 2 * w.padding[i] - w.dilation[i] * (w.kernel[i] - 1) - 1) / w.stride[i] + 1;
    }
    auto x = random_array<T>(kPlanes * in[0] * in[1]);
    for (size_t i = 0; i < x.size(); i += 97) x[i] = std::numeric_limits<T>::quiet_NaN();
    std::vector<T> y(kPlanes * out[0] * out[1]);
    max_pool2d<T>(x.data(), kPlanes, in, w, y.data(), out);
    for (int64_t p = 0; p < kPlanes; ++p) {
      for (int64_t i = 0; i < out[0]; ++i) {
        for (int64_t j = 0; j < out[1]; ++j) {
          T truth = -std::numeric_limits<T>::infinity();
          bool nan = false;
          for (int64_t u = 0; u < w.kernel[0]; ++u) {
            for (int64_t v = 0; v < w.kernel[1]; ++v) {
              const int64_t row = i * w.stride[0] + u * w.dilation[0] - w.padding[0];
              const int64_t col = j * w.stride[1] + v * w.dilation[1] - w.padding[1];
              if (row < 0 || row >= in[0] || col < 0 || col >= in[1]) continue;
              const T value = x[(p * in[0] + row) * in[1] + col];
              nan |= std::isnan(value);
              truth = std::max(truth, value);
            }
          }
          const T got = y[(p * out[0] + i) * out[1] + j];
          if (nan) {
            ASSERT_TRUE(std::isnan(got));
          } else {
            ASSERT_EQ(got, truth);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace kbench::reference
