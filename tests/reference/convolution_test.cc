#include "reference/ops/convolution.h"

#include "reference/ops/depthwise_convolution.h"
#include "reference/ops/transposed_convolution.h"
#include "tests/reference/arrays.h"

namespace kbench::reference {
namespace {

template <class T>
class Convolution : public ::testing::Test {};
TYPED_TEST_SUITE(Convolution, RealTypes);

/// Calls visit(output, input, tap), places in one channel, for every product of a convolution: the
/// input is output * stride + tap * dilation - padding in each dimension, where that is inside.
template <class Visit>
void for_each_product(const ConvExtents& e, const Visit& visit) {
  const auto& [kernel, stride, padding, dilation] = e.window;
  const Depth& d = e.depth;
  for (int64_t o = 0; o < d.out * e.out[0] * e.out[1]; ++o) {
    for (int64_t t = 0; t < d.kernel * kernel[0] * kernel[1]; ++t) {
      const int64_t at[3] = {o / (e.out[0] * e.out[1]), o / e.out[1] % e.out[0], o % e.out[1]};
      const int64_t u[3] = {t / (kernel[0] * kernel[1]), t / kernel[1] % kernel[0], t % kernel[1]};
      const int64_t depth = at[0] * d.stride + u[0] * d.dilation - d.padding;
      const int64_t row = at[1] * stride[0] + u[1] * dilation[0] - padding[0];
      const int64_t column = at[2] * stride[1] + u[2] * dilation[1] - padding[1];
      if (depth < 0 || depth >= d.in || row < 0 || row >= e.in[0] || column < 0 ||
          column >= e.in[1]) {
        continue;
      }
      visit(o, (depth * e.in[0] + row) * e.in[1] + column, t);
    }
  }
}

struct Sizes {
  int64_t in, out, taps;
};
Sizes sizes_of(const ConvExtents& e) {
  return {e.depth.in * e.in[0] * e.in[1], e.depth.out * e.out[0] * e.out[1],
          e.depth.kernel * e.window.kernel[0] * e.window.kernel[1]};
}

template <class T>
std::vector<double> brute_force(const std::vector<T>& x, const std::vector<T>& w,
                                const std::vector<T>& bias, const ConvExtents& e) {
  const auto [in, out, taps] = sizes_of(e);
  const int64_t in_group = e.channels / e.groups, out_group = e.out_channels / e.groups;
  std::vector<double> y;
  for (int64_t n = 0; n < e.batch; ++n) {
    for (int64_t o = 0; o < e.out_channels; ++o) {
      y.resize(y.size() + out, bias.empty() ? 0 : bias[o]);
      double* to = &y[y.size() - out];
      for (int64_t c = 0; c < in_group; ++c) {
        const T* from = &x[(n * e.channels + o / out_group * in_group + c) * in];
        const T* weight = &w[(o * in_group + c) * taps];
        for_each_product(e, [&](int64_t output, int64_t input, int64_t tap) {
          to[output] += double(from[input]) * weight[tap];
        });
      }
    }
  }
  return y;
}

/// The definition as it stands: every input is scattered, `e` with input and output exchanged.
template <class T>
std::vector<double> transposed_brute_force(const std::vector<T>& x, const std::vector<T>& w,
                                           const std::vector<T>& bias, const ConvExtents& e) {
  ConvExtents forward = e;
  std::swap(forward.in, forward.out);
  std::swap(forward.depth.in, forward.depth.out);
  const auto [in, out, taps] = sizes_of(e);
  const int64_t in_group = e.channels / e.groups, out_group = e.out_channels / e.groups;
  std::vector<double> y;
  for (int64_t n = 0; n < e.batch; ++n) {
    for (int64_t o = 0; o < e.out_channels; ++o) {
      y.resize(y.size() + out, bias.empty() ? 0 : bias[o]);
      double* to = &y[y.size() - out];
      for (int64_t c = o / out_group * in_group; c < (o / out_group + 1) * in_group; ++c) {
        const T* from = &x[(n * e.channels + c) * in];
        const T* weight = &w[(c * out_group + o % out_group) * taps];
        for_each_product(forward, [&](int64_t input, int64_t output, int64_t tap) {
          to[output] += double(from[input]) * weight[tap];
        });
      }
    }
  }
  return y;
}

std::string describe(const ConvExtents& e) {
  std::string text = "groups " + std::to_string(e.groups);
  const auto add = [&](const char* name, int64_t depth, const std::array<int64_t, 2>& rest) {
    text += std::string(" ") + name;
    for (int64_t value : {depth, rest[0], rest[1]}) text += " " + std::to_string(value);
  };
  add("in", e.depth.in, e.in);
  add("out", e.depth.out, e.out);
  add("kernel", e.depth.kernel, e.window.kernel);
  add("stride", e.depth.stride, e.window.stride);
  add("padding", e.depth.padding, e.window.padding);
  add("dilation", e.depth.dilation, e.window.dilation);
  return text;
}

template <class T>
void expect_matches(ConvExtents e, bool with_bias) {
  const auto extent = [](int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                         int64_t dilation) {
    return (in + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  };
  for (int i = 0; i < 2; ++i) {
    e.out[i] = extent(e.in[i], e.window.kernel[i], e.window.stride[i], e.window.padding[i],
                      e.window.dilation[i]);
  }
  e.depth.out =
      extent(e.depth.in, e.depth.kernel, e.depth.stride, e.depth.padding, e.depth.dilation);
  const auto [in, out, taps] = sizes_of(e);
  const int64_t depth = e.channels / e.groups * taps;
  const auto x = random_array<T>(e.batch * e.channels * in, 1);
  const auto w = random_array<T>(e.out_channels * depth, 2);
  const auto bias = random_array<T>(with_bias ? e.out_channels : 0, 3);
  std::vector<T> y(e.batch * e.out_channels * out, std::numeric_limits<T>::quiet_NaN());
  convolve<T>(x.data(), w.data(), with_bias ? bias.data() : nullptr, e, y.data());
  SCOPED_TRACE(describe(e));
  expect_close(y, brute_force(x, w, bias, e), static_cast<double>(depth + 1));
}

using Pair = std::array<int64_t, 2>;

TYPED_TEST(Convolution, MatchesBruteForceOverStridesPaddingsDilationsAndGroups) {
  int bias = 0;
  for (Pair kernel : {Pair{1, 1}, Pair{3, 3}, Pair{5, 2}}) {
    for (Pair stride : {Pair{1, 1}, Pair{2, 2}, Pair{3, 1}, Pair{1, 4}}) {
      for (Pair padding : {Pair{0, 0}, Pair{1, 1}, Pair{0, 3}}) {
        for (Pair dilation : {Pair{1, 1}, Pair{2, 3}}) {
          for (int64_t groups : {1, 3, 6}) {
            expect_matches<TypeParam>({.batch = 2,
                                       .channels = 6,
                                       .out_channels = groups == 6 ? 12 : 15,
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

TYPED_TEST(Convolution, OfVolumesMatchesBruteForce) {
  int bias = 0;
  for (int64_t kernel : {1, 3}) {
    for (int64_t stride : {1, 2}) {
      for (int64_t padding : {0, 1}) {
        for (int64_t dilation : {1, 2}) {
          for (int64_t groups : {1, 3}) {
            for (Pair across : {Pair{1, 1}, Pair{2, 3}}) {
              expect_matches<TypeParam>(
                  {.batch = 3,
                   .channels = 6,
                   .out_channels = 9,
                   .groups = groups,
                   .in = {5, 11},
                   .window = {across, {1, stride}, {padding, 0}, {dilation, 1}},
                   .depth = {kernel, stride, padding, dilation, 7}},
                  bias++ % 2 == 0);
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(Convolution, OfRowsMatchesBruteForce) {
  for (int64_t stride : {1, 3}) {
    for (int64_t dilation : {1, 4}) {
      for (int64_t groups : {1, 3}) {
        expect_matches<TypeParam>({.batch = 5,
                                   .channels = 3,
                                   .out_channels = 21,
                                   .groups = groups,
                                   .in = {1, 43},
                                   .window = {{1, 3}, {1, stride}, {0, 2}, {1, dilation}}},
                                  true);
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
  // 67 * 27 = 1809 products, passes that begin and end inside a channel's planes.
  expect_matches<TypeParam>({.batch = 2,
                             .channels = 67,
                             .out_channels = 11,
                             .in = {5, 7},
                             .window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}},
                             .depth = {3, 1, 1, 1, 6}},
                            true);
  // One long row, cut across columns; and the whole of x read without padding.
  expect_matches<TypeParam>({.batch = 1,
                             .channels = 3,
                             .out_channels = 9,
                             .in = {3, 3001},
                             .window = {{3, 5}, {1, 2}, {1, 2}, {1, 1}}},
                            true);
  // As many threads' shares of rows as there are panels.
  expect_matches<TypeParam>({.batch = 1,
                             .channels = 300,
                             .out_channels = 150,
                             .in = {3, 3},
                             .window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}}},
                            true);
}

TYPED_TEST(Convolution, DepthwiseWorksThroughPlanesInBands) {
  const ConvExtents small = {.batch = 2,
                             .channels = 21,
                             .out_channels = 21,
                             .groups = 21,
                             .in = {11, 10},
                             .window = {{3, 3}, {2, 2}, {1, 1}, {1, 1}}};
  EXPECT_TRUE(is_depthwise(small));
  expect_matches<TypeParam>(small, false);
  // 101 x 131 elements need several bands; two outputs a channel; volumes are planes by themselves.
  expect_matches<TypeParam>({.batch = 2,
                             .channels = 3,
                             .out_channels = 6,
                             .groups = 3,
                             .in = {101, 131},
                             .window = {{5, 3}, {1, 3}, {2, 4}, {2, 5}},
                             .depth = {.in = 3}},
                            true);
  expect_matches<TypeParam>({.batch = 1,
                             .channels = 5,
                             .out_channels = 5,
                             .groups = 5,
                             .in = {1, 1},
                             .window = {{3, 3}, {2, 2}, {1, 1}, {1, 1}}},
                            true);
}

template <class T>
void expect_transposed(ConvExtents e, std::array<int64_t, 3> output_padding, bool with_bias) {
  const auto extent = [](int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                         int64_t dilation, int64_t extra) {
    return (in - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1 + extra;
  };
  for (int i = 0; i < 2; ++i) {
    e.out[i] = extent(e.in[i], e.window.kernel[i], e.window.stride[i], e.window.padding[i],
                      e.window.dilation[i], output_padding[1 + i]);
  }
  e.depth.out = extent(e.depth.in, e.depth.kernel, e.depth.stride, e.depth.padding,
                       e.depth.dilation, output_padding[0]);
  const auto [in, out, taps] = sizes_of(e);
  const auto x = random_array<T>(e.batch * e.channels * in, 1);
  const auto w = random_array<T>(e.channels * e.out_channels / e.groups * taps, 2);
  const auto bias = random_array<T>(with_bias ? e.out_channels : 0, 3);
  std::vector<T> y(e.batch * e.out_channels * out, std::numeric_limits<T>::quiet_NaN());
  convolve_transposed<T>(x.data(), w.data(), with_bias ? bias.data() : nullptr, e, y.data());
  SCOPED_TRACE(describe(e));
  expect_close(y, transposed_brute_force(x, w, bias, e),
               static_cast<double>(e.channels / e.groups * taps + 1));
}

TYPED_TEST(Convolution, TransposedMatchesItsDefinitionOverAllOptions) {
  int bias = 0;
  for (Pair kernel : {Pair{1, 2}, Pair{3, 3}, Pair{5, 7}}) {
    for (Pair stride : {Pair{1, 1}, Pair{2, 3}, Pair{6, 4}}) {
      for (Pair padding : {Pair{0, 0}, Pair{1, 2}}) {
        for (Pair dilation : {Pair{1, 1}, Pair{2, 3}, Pair{4, 2}}) {
          for (int64_t groups : {1, 3}) {
            const int64_t extra = bias % 2;
            if (extra >= std::max(stride[0], dilation[0]) ||
                extra >= std::max(stride[1], dilation[1])) {
              continue;
            }
            expect_transposed<TypeParam>({.batch = 2,
                                          .channels = 6,
                                          .out_channels = 9,
                                          .groups = groups,
                                          .in = {5, 11},
                                          .window = {kernel, stride, padding, dilation}},
                                         {0, extra, extra}, bias++ % 3 != 0);
          }
          ++bias;
        }
      }
    }
  }
}

TYPED_TEST(Convolution, TransposedOfVolumesAndRowsMatchesItsDefinition) {
  for (int64_t stride : {1, 2, 3}) {
    for (int64_t dilation : {1, 2}) {
      for (int64_t padding : {0, 1}) {
        expect_transposed<TypeParam>({.batch = 2,
                                      .channels = 9,
                                      .out_channels = 6,
                                      .groups = 3,
                                      .in = {7, 3},
                                      .window = {{1, 3}, {1, stride}, {0, padding}, {1, dilation}},
                                      .depth = {3, stride, padding, dilation, 5}},
                                     {stride - 1, 0, 0}, true);
        expect_transposed<TypeParam>({.batch = 3,
                                      .channels = 5,
                                      .out_channels = 7,
                                      .in = {1, 23},
                                      .window = {{1, 5}, {1, stride}, {0, padding}, {1, dilation}}},
                                     {0, 0, stride - 1}, false);
      }
    }
  }
}

TYPED_TEST(Convolution, TransposedCropsMoreThanTheKernelReaches) {
  expect_transposed<TypeParam>({.batch = 1,
                                .channels = 3,
                                .out_channels = 5,
                                .in = {13, 11},
                                .window = {{3, 1}, {2, 1}, {5, 3}, {1, 1}}},
                               {0, 0, 0}, true);
}

}  // namespace
}  // namespace kbench::reference
