// Level 3: convolutional networks.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

void lenet5(Graph& g) {
  auto x = g.input("x", {g["batch_size"], 1, 32, 32});
  x = relu(conv2d(x, g.module("conv1"), {.out_channels = 6, .kernel = {5}}));
  x = max_pool2d(x, {.kernel = {2}});
  x = relu(conv2d(x, g.module("conv2"), {.out_channels = 16, .kernel = {5}}));
  x = flatten(max_pool2d(x, {.kernel = {2}}), 1);
  x = relu(linear(x, g.module("fc1"), {.out = 120}));
  x = relu(linear(x, g.module("fc2"), {.out = 84}));
  g.output(linear(x, g.module("fc3"), {.out = g["num_classes"]}));
}

}  // namespace

Tasks level3_convnets() {
  return {
      {{3, 4},
       "LeNet5",
       "convnet",
       {{"batch_size", 4, 1, 4096}, {"num_classes", 20, 10, 20}},
       lenet5},
  };
}

}  // namespace kbench::levels
