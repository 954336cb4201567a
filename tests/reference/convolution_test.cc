#include "reference/ops/convolution.h"

#include "tests/reference/arrays.h"

namespace kbench::reference {
namespace {

template <class T>
class Convolution : public ::testing::Test {};
TYPED_TEST_SUITE(Convolution, RealTypes);

template <class T>
std::vector<double> brute_force(const std::vector<T>& x, const std::vector<T>& w,
                                const std::vector<T>& bias, const Conv2dExtents& e) {
  const auto& [kernel, stride, padding, dilation] = e.window;
  const int64_t in_group = e.channels / e.groups, out_group = e.out_channels / e.groups;
  std::vector<double> y;
  for (int64_t n = 0; n < e.batch; ++n) {
    for (int64_t o = 0; o < e.out_channels; ++o) {
      for (int64_t i = 0; i < e.out[0]; ++i) {
        for (int64_t j = 0; j < e.out[1]; ++j) {
          double sum = bias.empty() ? 0 : bias[o];
          for (int64_t c = 0; c < in_group; ++c) {
            for (int64_t u = 0; u < kernel[0]; ++u) {
              for (int64_t v = 0; v < kernel[1]; ++v) {
                const int64_t row = i * stride[0] + u * dilation[0] - padding[0];
                const int64_t col = j * stride[1] + v * dilation[1] - padding[1];
                if (row < 0 || row >= e.in[0] || col < 0 || col >= e.in[1]) continue;
                const int64_t channel = o / out_group * in_group + c;
                sum += double(x[((n * e.channels + channel) * e.in[0] + row) * e.in[1] + col]) *
                       w[((o * in_group + c) * kernel[0] + u) * kernel[1] + v];
              }
            }
          }
          y.push_back(sum);
        }
      }
    }
  }
  return y;
}

template <class T>
void expect_matches(Conv2dExtents e, bool with_bias) {
  for (int i = 0; i < 2; ++i) {
    const int64_t span = e.window.dilation[i] * (e.window.kernel[i] - 1) + 1;
    e.out[i] = (e.in[i] + 2 * e.window.padding[i] - span) / e.window.stride[i] + 1;
  }
  const int64_t depth = e.channels / e.groups * e.window.kernel[0] * e.window.kernel[1];
  const auto x = random_array<T>(e.batch * e.channels * e.in[0] * e.in[1], 1);
  const auto w = random_array<T>(e.out_channels * depth, 2);
  const auto bias = random_array<T>(with_bias ? e.out_channels : 0, 3);
  std::vector<T> y(e.batch * e.out_channels * e.out[0] * e.out[1]);
  conv2d<T>(x.data(), w.data(), with_bias ? bias.data() : nullptr, e, y.data());
  SCOPED_TRACE(::testing::Message()
               << "kernel " << e.window.kernel[0] << "x" << e.window.kernel[1] << " stride "
               << e.window.stride[0] << "," << e.window.stride[1] << " padding "
               << e.window.padding[0] << "," << e.window.padding[1] << " dilation "
               << e.window.dilation[0] << "," << e.window.dilation[1] << " groups " << e.groups);
  expect_close(y, brute_force(x, w, bias, e), static_cast<double>(depth + 1));
}

TYPED_TEST(Convolution, MatchesBruteForceOverStridesPaddingsDilationsAndGroups) {
  using Pair = std::array<int64_t, 2>;
  int bias = 0;
  for (Pair kernel : {Pair{1, 1}, Pair{3, 3}, Pair{5, 2}}) {
    for (Pair stride : {Pair{1, 1}, Pair{2, 2}, Pair{3, 1}, Pair{1, 4}}) {
      for (Pair padding : {Pair{0, 0}, Pair{1, 1}, Pair{0, 3}}) {
        for (Pair dilation : {Pair{1, 1}, Pair{2, 3}}) {
          for (int64_t groups : {1, 3}) {
            expect_matches<TypeParam>({.batch = 2,
                                       .channels = 6,
                                       .out_channels = 15,
                                       .groups = groups,
                                       .in = {13, 17},
                                       .window = {kernel, stride, padding, dilation}},
                                      bias++ % 2 == 0);
          }
        }
      }
    }
  }
}

TYPED_TEST(Convolution, HandlesBlocksThatSpanImagesAndDepthsThatNeedSeveralPasses) {
  // 35 positions an image: tiles straddle images. 67 * 9 = 603 products a sum: two passes.
  expect_matches<TypeParam>({.batch = 11,
                             .channels = 67,
                             .out_channels = 19,
                             .in = {5, 7},
                             .window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}}},
                            true);
  // One long row, cut across columns; and the whole of x read without padding.
  expect_matches<TypeParam>({.batch = 1,
                             .channels = 3,
                             .out_channels = 9,
                             .in = {3, 3001},
                             .window = {{3, 5}, {1, 2}, {1, 2}, {1, 1}}},
                            true);
  // Depthwise, and as many threads' shares of rows as there are panels.
  expect_matches<TypeParam>({.batch = 2,
                             .channels = 21,
                             .out_channels = 21,
                             .groups = 21,
                             .in = {11, 10},
                             .window = {{3, 3}, {2, 2}, {1, 1}, {1, 1}}},
                            false);
  expect_matches<TypeParam>({.batch = 1,
                             .channels = 300,
                             .out_channels = 150,
                             .in = {3, 3},
                             .window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}}},
                            true);
}

}  // namespace
}  // namespace kbench::reference
