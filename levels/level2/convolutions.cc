// Level 2: a convolution and what follows it.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

void conv2d_relu_bias_add(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["in_channels"], g["height"], g["width"]});
  auto y = relu(conv2d(x, g.module("conv"),
                       {.out_channels = g["out_channels"], .kernel = {g["kernel_size"]}}));
  g.output(y + g.parameter("bias", {g["out_channels"], 1, 1}));
}

}  // namespace

Tasks level2_convolutions() {
  using List = std::vector<int64_t>;
  return {
      {{2, 1},
       "Conv2D_ReLU_BiasAdd",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"bias_shape", List{16, 1, 1}, List{16, 1, 1}, List{128, 1, 1}}},
       conv2d_relu_bias_add},
  };
}

}  // namespace kbench::levels
