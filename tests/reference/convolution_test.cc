#include "reference/ops/convolution.h"

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
  const auto place = [](int64_t i, const Triple& extents) {
    return Triple{i / extents[2] / extents[1], i / extents[2] % extents[1], i % extents[2]};
  };
  for (int64_t o = 0; o < product(e.out); ++o) {
    for (int64_t t = 0; t < product(e.kernel); ++t) {
      const Triple output = place(o, e.out), tap = place(t, e.kernel);
      int64_t input = 0;
      bool is_inside = true;
      for (int i = 0; i < 3; ++i) {
        const int64_t at = output[i] * e.stride[i] + tap[i] * e.dilation[i] - e.padding[i];
        is_inside = is_inside && at >= 0 && at < e.in[i];
        input = input * e.in[i] + at;
      }
      if (is_inside) visit(o, input, t);
    }
  }
}

struct Sizes {
  int64_t in, out, taps;
};
Sizes sizes_of(const ConvExtents& e) { return {product(e.in), product(e.out), product(e.kernel)}; }

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
  const auto add = [&](const char* name, const Triple& values) {
    text += std::string(" ") + name;
    for (int64_t value : values) text += " " + std::to_string(value);
  };
  add("in", e.in);
  add("out", e.out);
  add("kernel", e.kernel);
  add("stride", e.stride);
  add("padding", e.padding);
  add("dilation", e.dilation);
  return text;
}

template <class T>
void expect_matches(ConvExtents e, bool with_bias) {
  for (int i = 0; i < 3; ++i) {
    const int64_t reach = e.dilation[i] * (e.kernel[i] - 1);
    e.out[i] = (e.in[i] + 2 * e.padding[i] - reach - 1) / e.stride[i] + 1;
  }
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

TYPED_TEST(Convolution, MatchesBruteForceOverAllItsOptions) {
  int bias = 0;
  for (Triple kernel : {Triple{1, 1, 1}, Triple{1, 3, 3}, Triple{1, 5, 2}}) {
    for (Triple stride : {Triple{1, 1, 1}, Triple{1, 2, 2}, Triple{1, 3, 1}, Triple{1, 1, 4}}) {
      for (Triple padding : {Triple{0, 0, 0}, Triple{0, 1, 1}, Triple{0, 0, 3}}) {
        for (Triple dilation : {Triple{1, 1, 1}, Triple{1, 2, 3}}) {
          for (int64_t groups : {1, 3, 6}) {
            expect_matches<TypeParam>({.batch = 2,
                                       .channels = 6,
                                       .out_channels = groups == 6 ? 12 : 15,
                                       .groups = groups,
                                       .in = {1, 13, 17},
                                       .kernel = kernel,
                                       .stride = stride,
                                       .padding = padding,
                                       .dilation = dilation},
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
            for (auto across : {std::array<int64_t, 2>{1, 1}, std::array<int64_t, 2>{2, 3}}) {
              expect_matches<TypeParam>({.batch = 3,
                                         .channels = 6,
                                         .out_channels = 9,
                                         .groups = groups,
                                         .in = {7, 5, 11},
                                         .kernel = {kernel, across[0], across[1]},
                                         .stride = {stride, 1, stride},
                                         .padding = {padding, padding, 0},
                                         .dilation = {dilation, dilation, 1}},
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
                                   .in = {1, 1, 43},
                                   .kernel = {1, 1, 3},
                                   .stride = {1, 1, stride},
                                   .padding = {0, 0, 2},
                                   .dilation = {1, 1, dilation}},
                                  true);
      }
    }
  }
}

TYPED_TEST(Convolution, HandlesBlocksOverImagesAndDeepSums) {
  // 35 positions an image: blocks straddle images. 67 * 9 = 603 products a sum: three passes.
  expect_matches<TypeParam>({.batch = 11,
                             .channels = 67,
                             .out_channels = 19,
                             .in = {1, 5, 7},
                             .kernel = {1, 3, 3},
                             .padding = {0, 1, 1}},
                            true);
  // 67 * 27 = 1809 products, eight passes.
  expect_matches<TypeParam>(
      {.batch = 2, .channels = 67, .out_channels = 11, .in = {6, 5, 7}, .kernel = {3, 3, 3}}, true);
  // One long row, cut across columns; and the whole of x read without padding.
  expect_matches<TypeParam>({.batch = 1,
                             .channels = 3,
                             .out_channels = 9,
                             .in = {1, 3, 3001},
                             .kernel = {1, 3, 5},
                             .stride = {1, 1, 2},
                             .padding = {0, 1, 2}},
                            true);
  // Few positions and much work: blocks of output channels.
  expect_matches<TypeParam>({.batch = 1,
                             .channels = 600,
                             .out_channels = 300,
                             .in = {1, 3, 3},
                             .kernel = {1, 3, 3},
                             .padding = {0, 1, 1}},
                            true);
}

TYPED_TEST(Convolution, DepthwiseWorksThroughPlanesInBands) {
  const ConvExtents small = {.batch = 2,
                             .channels = 21,
                             .out_channels = 21,
                             .groups = 21,
                             .in = {1, 11, 10},
                             .kernel = {1, 3, 3},
                             .stride = {1, 2, 2},
                             .padding = {0, 1, 1}};
  EXPECT_TRUE(is_depthwise(small));
  expect_matches<TypeParam>(small, false);
  // 101 x 131 elements need several bands; two outputs a channel.
  expect_matches<TypeParam>({.batch = 2,
                             .channels = 3,
                             .out_channels = 6,
                             .groups = 3,
                             .in = {3, 101, 131},
                             .kernel = {1, 5, 3},
                             .stride = {1, 1, 3},
                             .padding = {0, 2, 4},
                             .dilation = {1, 2, 5}},
                            true);
  expect_matches<TypeParam>({.batch = 1,
                             .channels = 5,
                             .out_channels = 5,
                             .groups = 5,
                             .in = {1, 1, 1},
                             .kernel = {1, 3, 3},
                             .stride = {1, 2, 2},
                             .padding = {0, 1, 1}},
                            true);
}

template <class T>
void expect_transposed(ConvExtents e, Triple output_padding, bool with_bias) {
  for (int i = 0; i < 3; ++i) {
    e.out[i] = (e.in[i] - 1) * e.stride[i] - 2 * e.padding[i] + e.dilation[i] * (e.kernel[i] - 1) +
               1 + output_padding[i];
  }
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
  for (Triple kernel : {Triple{1, 1, 2}, Triple{1, 3, 3}, Triple{1, 5, 7}}) {
    for (Triple stride : {Triple{1, 1, 1}, Triple{1, 2, 3}, Triple{1, 6, 4}}) {
      for (Triple padding : {Triple{0, 0, 0}, Triple{0, 1, 2}}) {
        for (Triple dilation : {Triple{1, 1, 1}, Triple{1, 2, 3}, Triple{1, 4, 2}}) {
          for (int64_t groups : {1, 3}) {
            const int64_t extra = bias % 2;
            if (extra >= std::max(stride[1], dilation[1]) ||
                extra >= std::max(stride[2], dilation[2])) {
              continue;
            }
            expect_transposed<TypeParam>({.batch = 2,
                                          .channels = 6,
                                          .out_channels = 9,
                                          .groups = groups,
                                          .in = {1, 5, 11},
                                          .kernel = kernel,
                                          .stride = stride,
                                          .padding = padding,
                                          .dilation = dilation},
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
                                      .in = {5, 7, 3},
                                      .kernel = {3, 1, 3},
                                      .stride = {stride, 1, stride},
                                      .padding = {padding, 0, padding},
                                      .dilation = {dilation, 1, dilation}},
                                     {stride - 1, 0, 0}, true);
        expect_transposed<TypeParam>({.batch = 3,
                                      .channels = 5,
                                      .out_channels = 7,
                                      .in = {1, 1, 23},
                                      .kernel = {1, 1, 5},
                                      .stride = {1, 1, stride},
                                      .padding = {0, 0, padding},
                                      .dilation = {1, 1, dilation}},
                                     {0, 0, stride - 1}, false);
      }
    }
  }
}

TYPED_TEST(Convolution, TransposedCropsMoreThanTheKernelReaches) {
  expect_transposed<TypeParam>({.batch = 1,
                                .channels = 3,
                                .out_channels = 5,
                                .in = {1, 13, 11},
                                .kernel = {1, 3, 1},
                                .stride = {1, 2, 1},
                                .padding = {0, 5, 3}},
                               {0, 0, 0}, true);
}

}  // namespace
}  // namespace kbench::reference
