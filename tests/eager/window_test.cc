// Convolution and pooling.
#include "harness/eager/convolution.h"
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

TEST_F(Windows, ConvolutionsMatchTheReferenceInEveryTile) {
  const DeviceTraits traits = gpu_traits();
  check(kConvolutions[6], traits);  // without a product, two pixels an invocation
  for (const Tile& tile : tiles()) {
    if (tile.shared_bytes() > traits.max_shared_memory) continue;
    for (const Case& c :
         {Case{"conv2d", {{2, 3, 19, 23}, {70, 3, 3, 3}, {70}}, conv({1, 1}, {1, 1}, {1, 1}, 1)},
          Case{
              "conv2d", {{2, 8, 9, 11}, {258, 4, 2, 2}, {258}}, conv({1, 1}, {0, 0}, {1, 1}, 2)}}) {
      SCOPED_TRACE(std::to_string(tile.m) + "x" + std::to_string(tile.n));
      const OperatorCall call = call_of(c);
      const auto inputs = draw_inputs(c);
      expect_close(run(call, plan_convolution(call, tile, traits), inputs), truth_of(call, inputs),
                   1e-5);
    }
  }
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
