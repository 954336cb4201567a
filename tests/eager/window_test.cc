// Convolution and pooling.
#include "harness/measure/eager/convolution.h"
#include "harness/measure/eager/winograd.h"
#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

using Windows = EagerTest;
using List = std::vector<int64_t>;

Attributes conv(List stride, List padding, List dilation, int64_t groups) {
  return {{"stride", stride}, {"padding", padding}, {"dilation", dilation}, {"groups", groups}};
}
Attributes pool(List kernel, List stride, List padding, List dilation) {
  return {{"kernel", kernel}, {"stride", stride}, {"padding", padding}, {"dilation", dilation}};
}

const std::vector<Case> kConvolutions = {
    {"conv2d", {{2, 3, 11, 13}, {20, 3, 5, 4}, {20}}, conv({1, 1}, {0, 0}, {1, 1}, 1)},
    {"conv2d", {{2, 3, 11, 13}, {20, 3, 5, 4}, {20}}, conv({3, 2}, {2, 1}, {1, 1}, 1)},
    {"conv2d", {{2, 3, 11, 13}, {20, 3, 3, 2}}, conv({1, 1}, {0, 3}, {2, 3}, 1)},
    {"conv2d", {{3, 10, 9, 11}, {38, 5, 3, 3}, {38}}, conv({1, 1}, {1, 1}, {1, 1}, 2)},
    {"conv2d", {{2, 4, 6, 10}, {36, 4, 1, 1}, {36}}, conv({1, 1}, {0, 0}, {1, 1}, 1)},
    {"conv2d", {{2, 3, 11, 13}, {6, 3, 5, 4}, {6}}, conv({1, 1}, {0, 0}, {1, 1}, 1)},
    {"conv2d", {{2, 3, 11, 13}, {6, 3, 5, 4}}, conv({3, 2}, {2, 1}, {2, 1}, 1)},
    {"conv2d", {{2, 7, 9, 11}, {7, 1, 3, 3}, {7}}, conv({1, 1}, {1, 1}, {1, 1}, 7)},
    {"conv2d", {{2, 30, 9, 11}, {15, 10, 3, 3}, {15}}, conv({2, 2}, {1, 1}, {1, 1}, 3)},
};

TEST_F(Windows, ConvolutionsMatchTheReference) {
  for (const Case& c : kConvolutions) check(c, device_traits());
}

TEST_F(Windows, ChannelsByThemselvesShareInputRows) {
  const std::vector<Case> cases = {
      {"conv2d", {{2, 7, 19, 11}, {7, 1, 3, 3}, {7}}, conv({1, 1}, {1, 1}, {1, 1}, 7)},
      {"conv2d", {{2, 5, 24, 11}, {5, 1, 5, 3}}, conv({2, 3}, {2, 0}, {1, 2}, 5)},
      {"conv2d", {{1, 3, 30, 9}, {3, 1, 3, 2}}, conv({1, 1}, {0, 0}, {2, 1}, 3)},
      {"conv1d", {{2, 6, 31}, {6, 1, 3}, {6}}, conv({2}, {1}, {1}, 6)},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(check(c, device_traits()).launches[0].shader, "conv_depthwise.comp");
    check(c, gpu_traits());
  }
}

TEST_F(Windows, ConvolutionsOfOtherRanksMatchTheReference) {
  const std::vector<Case> cases = {
      {"conv1d", {{2, 3, 31}, {20, 3, 5}, {20}}, conv({3}, {2}, {2}, 1)},
      {"conv1d", {{2, 6, 31}, {6, 1, 3}}, conv({1}, {0}, {4}, 6)},
      {"conv3d",
       {{2, 3, 7, 6, 5}, {20, 3, 3, 2, 4}, {20}},
       conv({1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1)},
      {"conv3d", {{2, 4, 7, 9, 8}, {36, 2, 3, 2, 3}}, conv({2, 1, 3}, {1, 1, 2}, {1, 2, 1}, 2)},
      {"conv3d", {{2, 3, 7, 6, 5}, {5, 3, 3, 2, 4}, {5}}, conv({1, 2, 1}, {1, 0, 2}, {2, 1, 1}, 1)},
  };
  for (const Case& c : cases) {
    check(c, device_traits());
    check(c, gpu_traits());
  }
}

Attributes transposed(List stride, List padding, List extra, List dilation, int64_t groups) {
  return {{"stride", stride},
          {"padding", padding},
          {"output_padding", extra},
          {"dilation", dilation},
          {"groups", groups}};
}

// Strides that share a factor with the dilation leave phases that no tap meets.
TEST_F(Windows, TransposedConvolutionsMatchTheReference) {
  const std::vector<Case> cases = {
      {"conv_transpose1d", {{2, 3, 11}, {3, 20, 5}, {20}}, transposed({1}, {0}, {0}, {1}, 1)},
      {"conv_transpose1d", {{2, 3, 11}, {3, 20, 5}}, transposed({2}, {1}, {1}, {3}, 1)},
      {"conv_transpose1d", {{2, 3, 11}, {3, 20, 3}, {20}}, transposed({4}, {2}, {3}, {2}, 1)},
      {"conv_transpose2d",
       {{2, 3, 6, 7}, {3, 20, 3, 4}, {20}},
       transposed({1, 1}, {1, 2}, {0, 0}, {1, 1}, 1)},
      {"conv_transpose2d",
       {{2, 6, 6, 7}, {6, 18, 3, 5}, {36}},
       transposed({2, 3}, {1, 2}, {1, 0}, {2, 1}, 2)},
      {"conv_transpose2d",
       {{2, 3, 6, 7}, {3, 19, 2, 2}},
       transposed({2, 2}, {0, 0}, {0, 0}, {1, 1}, 1)},
      {"conv_transpose2d",
       {{2, 3, 4, 5}, {3, 5, 3, 3}, {5}},
       transposed({5, 5}, {1, 1}, {0, 0}, {2, 2}, 1)},
      {"conv_transpose2d",
       {{2, 5, 6, 7}, {5, 1, 3, 3}, {5}},
       transposed({2, 2}, {1, 1}, {1, 1}, {1, 1}, 5)},
      {"conv_transpose3d",
       {{2, 3, 4, 5, 6}, {3, 20, 3, 2, 4}, {20}},
       transposed({1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, 1)},
      {"conv_transpose3d",
       {{2, 4, 3, 4, 5}, {4, 18, 3, 5, 3}},
       transposed({2, 2, 2}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}, 2)},
      {"conv_transpose3d",
       {{2, 3, 4, 3, 5}, {3, 4, 3, 3, 3}, {4}},
       transposed({2, 1, 3}, {1, 1, 0}, {0, 0, 1}, {2, 2, 1}, 1)},
  };
  for (const Case& c : cases) check(c, device_traits());
  check(cases[4], gpu_traits());
  check(cases.back(), gpu_traits());
}

TEST_F(Windows, ConvolutionsMatchTheReferenceInEveryTile) {
  const DeviceTraits traits = gpu_traits();
  check(kConvolutions[6], traits);  // without a product, two pixels an invocation
  for (const GemmTile& tile : tiles()) {
    if (tile.shared_bytes() > traits.max_shared_memory) continue;
    for (const Case& c :
         {Case{"conv2d", {{2, 3, 19, 23}, {70, 3, 3, 3}, {70}}, conv({1, 1}, {1, 1}, {1, 1}, 1)},
          Case{
              "conv2d", {{2, 8, 9, 11}, {258, 4, 2, 2}, {258}}, conv({1, 1}, {0, 0}, {1, 1}, 2)}}) {
      SCOPED_TRACE(std::to_string(tile.m) + "x" + std::to_string(tile.n));
      const OperatorCall call = call_of(c);
      const auto inputs = draw_inputs(c);
      expect_close(run(call, plan_product(call, tile, 1, traits), inputs), truth_of(call, inputs),
                   1e-5);
    }
  }
}

TEST_F(Windows, DeepConvolutionsOfFewPixelsAreSplit) {
  const GemmTile& tile = tiles().back();
  for (const Case& c :
       {Case{"conv2d", {{2, 9, 5, 7}, {38, 9, 3, 3}, {38}}, conv({1, 1}, {1, 1}, {1, 1}, 1)},
        Case{"conv2d", {{2, 18, 6, 6}, {36, 9, 3, 3}, {36}}, conv({1, 1}, {1, 1}, {1, 1}, 2)},
        Case{"conv_transpose2d",
             {{2, 20, 4, 5}, {20, 18, 3, 3}, {18}},
             transposed({2, 2}, {1, 1}, {1, 1}, {1, 1}, 1)}}) {
    const OperatorCall call = call_of(c);
    const auto inputs = draw_inputs(c);
    const CallPlan plan = plan_product(call, tile, 3, device_traits());
    EXPECT_EQ(plan.launches.back().shader, "gemm_merge.comp");
    expect_close(run(call, plan, inputs), truth_of(call, inputs), 1e-5);
  }
  const CallPlan thin = plan_call(
      call_of({"conv2d", {{10, 992, 7, 7}, {32, 992, 3, 3}}, conv({1, 1}, {1, 1}, {1, 1}, 1)}),
      large_gpu());
  EXPECT_EQ(thin.launches.size(), 2u);
}

// Windows of 3, 4 and 5; tiles that the output does not fill; padding over and under the window's;
// rows that quads fit and that they do not.
TEST_F(Windows, MinimalFilteringMatchesTheReference) {
  const std::vector<Case> cases = {
      {"conv2d", {{2, 6, 11, 13}, {20, 6, 3, 5}, {20}}, conv({1, 1}, {1, 2}, {1, 1}, 1)},
      {"conv2d", {{3, 10, 13, 12}, {38, 5, 4, 3}, {38}}, conv({1, 2}, {0, 1}, {1, 1}, 2)},
      {"conv2d", {{2, 6, 9, 11}, {20, 6, 5, 1}}, conv({1, 1}, {3, 0}, {1, 1}, 1)},
      {"conv2d", {{1, 6, 10, 12}, {20, 6, 3, 3}}, conv({1, 3}, {2, 2}, {1, 2}, 1)},
      {"conv3d",
       {{2, 3, 7, 6, 5}, {20, 3, 3, 2, 4}, {20}},
       conv({1, 1, 2}, {1, 0, 1}, {1, 2, 1}, 1)},
      {"conv3d", {{2, 6, 5, 6, 6}, {34, 3, 5, 3, 3}}, conv({1, 1, 1}, {2, 1, 1}, {1, 1, 1}, 2)},
      {"conv_transpose2d",
       {{2, 6, 9, 7}, {6, 20, 3, 5}, {20}},
       transposed({1, 1}, {0, 0}, {0, 0}, {1, 1}, 1)},
      {"conv_transpose2d",
       {{2, 6, 9, 10}, {6, 18, 5, 3}, {36}},
       transposed({1, 1}, {3, 4}, {0, 0}, {1, 2}, 2)},
      {"conv_transpose3d",
       {{2, 5, 6, 5, 4}, {5, 20, 4, 3, 2}},
       transposed({1, 1, 1}, {1, 0, 1}, {0, 0, 0}, {1, 1, 1}, 1)},
      // Padded at the end of the output alone.
      {"conv_transpose2d",
       {{1, 16, 9, 10}, {16, 32, 3, 3}},
       transposed({1, 1}, {1, 4}, {0, 1}, {1, 2}, 1)},
      {"conv_transpose3d",
       {{2, 6, 5, 6, 7}, {6, 20, 3, 2, 3}, {20}},
       transposed({1, 1, 1}, {0, 2, 6}, {0, 1, 2}, {1, 2, 3}, 1)},
  };
  for (const Case& c : cases) {
    const OperatorCall call = call_of(c);
    const auto inputs = draw_inputs(c);
    const auto winograd = plan_winograd(describe_convolution(call), device_traits());
    ASSERT_TRUE(winograd);
    expect_close(run(call, winograd->plan, inputs), truth_of(call, inputs), 1e-5);
  }
}

TEST_F(Windows, MinimalFilteringTakesWindowsItCanSplit) {
  for (const Case& c : {
           Case{"conv2d", {{2, 6, 11, 13}, {20, 6, 2, 3}}, conv({1, 1}, {0, 0}, {1, 1}, 1)},
           Case{"conv2d", {{2, 6, 11, 13}, {20, 6, 6, 3}}, conv({1, 1}, {0, 0}, {1, 1}, 1)},
           Case{"conv2d", {{2, 6, 11, 13}, {20, 6, 3, 3}}, conv({2, 1}, {0, 0}, {1, 1}, 1)},
           Case{"conv2d", {{2, 6, 11, 13}, {20, 6, 3, 3}}, conv({1, 1}, {0, 0}, {2, 1}, 1)},
           Case{"conv1d", {{2, 6, 31}, {20, 6, 3}}, conv({1}, {0}, {1}, 1)},
           Case{"conv_transpose2d",
                {{2, 6, 9, 7}, {6, 20, 3, 3}},
                transposed({1, 2}, {0, 0}, {0, 0}, {1, 1}, 1)},
       }) {
    EXPECT_FALSE(plan_winograd(describe_convolution(call_of(c)), large_gpu()));
  }
}

TEST_F(Windows, LargeConvolutionsOfSmallWindowsAreMinimallyFiltered) {
  const auto shaders = [](const Case& c) {
    return plan_call(call_of(c), large_gpu()).launches.back().shader;
  };
  EXPECT_EQ(
      shaders({"conv2d", {{16, 128, 128, 128}, {128, 128, 3, 3}}, conv({1, 1}, {1, 1}, {1, 1}, 1)}),
      "winograd_output.comp");
  EXPECT_EQ(
      shaders({"conv2d", {{16, 4, 128, 128}, {64, 4, 3, 1}}, conv({1, 1}, {1, 1}, {1, 1}, 1)}),
      "conv_gemm.comp");
}

TEST_F(Windows, MaxPoolMatchesTheReference) {
  const std::vector<Case> cases = {
      {"max_pool2d", {{2, 3, 13, 17}}, pool({2, 2}, {2, 2}, {0, 0}, {1, 1})},
      {"max_pool2d", {{2, 3, 13, 17}}, pool({4, 4}, {1, 1}, {1, 1}, {1, 1})},
      {"max_pool2d", {{2, 3, 13, 17}}, pool({2, 2}, {2, 2}, {1, 1}, {3, 3})},
      {"max_pool2d", {{2, 3, 13, 17}}, pool({3, 5}, {2, 1}, {1, 2}, {2, 1})},
      {"max_pool2d", {{2, 3, 13, 17}}, pool({1, 2}, {3, 4}, {0, 0}, {1, 1})},
  };
  for (const Case& c : cases) {
    check(c, device_traits());
    check(c, gpu_traits());
  }
}

TEST_F(Windows, PoolsOfEveryRankMatchTheReference) {
  const auto rounded_up = [](Attributes attributes) {
    attributes.set("ceil_mode", int64_t{1});
    return attributes;
  };
  const auto mean = [](List kernel, List stride, List padding) {
    return Attributes{{"kernel", kernel}, {"stride", stride}, {"padding", padding}};
  };
  const std::vector<Case> cases = {
      {"max_pool1d", {{2, 3, 37}}, pool({4}, {1}, {2}, {3})},
      {"max_pool1d", {{2, 3, 37}}, rounded_up(pool({3}, {2}, {1}, {1}))},
      {"max_pool2d", {{2, 3, 13, 18}}, rounded_up(pool({3, 2}, {2, 3}, {0, 1}, {1, 1}))},
      {"max_pool3d", {{2, 3, 7, 9, 11}}, pool({3, 2, 3}, {2, 2, 1}, {1, 1, 1}, {1, 2, 3})},
      {"max_pool3d",
       {{2, 3, 8, 9, 11}},
       rounded_up(pool({2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {1, 1, 1}))},
      {"avg_pool1d", {{2, 3, 37}}, mean({4}, {1}, {2})},
      {"avg_pool2d", {{2, 3, 13, 17}}, mean({3, 4}, {2, 1}, {1, 2})},
      {"avg_pool2d", {{2, 3, 33, 35}}, mean({11, 11}, {11, 11}, {0, 0})},
      {"avg_pool3d", {{2, 3, 7, 9, 11}}, mean({3, 2, 3}, {2, 2, 1}, {1, 1, 0})},
      // What hangs over the end of the padding is not counted.
      {"avg_pool1d", {{2, 3, 37}}, rounded_up(mean({5}, {3}, {1}))},
      {"avg_pool2d", {{2, 3, 13, 17}}, rounded_up(mean({3, 4}, {2, 3}, {1, 2}))},
      {"avg_pool3d", {{2, 3, 7, 9, 11}}, rounded_up(mean({3, 2, 4}, {3, 2, 3}, {1, 1, 0}))},
      {"adaptive_avg_pool2d", {{2, 3, 13, 17}}, {{"output", List{1, 1}}}},
      {"adaptive_avg_pool2d", {{2, 3, 12, 15}}, {{"output", List{4, 5}}}},
      {"adaptive_avg_pool2d", {{2, 3, 13, 5}}, {{"output", List{4, 7}}}},
  };
  for (const Case& c : cases) {
    check(c, device_traits());
    check(c, gpu_traits());
  }
}

TEST_F(Windows, NanWinsAPool) {
  Tensor x(DType::f32, {1, 1, 12, 4});
  for (float& v : x.data<float>()) v = 1;
  x.data<float>()[5] = std::numeric_limits<float>::quiet_NaN();
  x.data<float>()[40] = -std::numeric_limits<float>::infinity();
  const OperatorCall call =
      make_call(find_operator("max_pool2d"), {x.type()}, pool({3, 3}, {1, 1}, {1, 1}, {1, 1}));
  for (const DeviceTraits& traits : {device_traits(), gpu_traits()}) {
    const Tensor y = run(call, plan_call(call, traits), {x})[0];
    for (int64_t i = 0; i < 12; ++i) {
      for (int64_t j = 0; j < 4; ++j) {
        const float v = y.data<float>()[i * 4 + j];
        EXPECT_EQ(std::isnan(v), i <= 2 && j <= 2) << i << ", " << j;
        EXPECT_TRUE(std::isnan(v) || v == 1.0f) << v;
      }
    }
  }
}

}  // namespace
}  // namespace kbench::eager
