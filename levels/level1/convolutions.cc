// Level 1: convolutions.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// AlexNet's first layer.
void conv2d_alexnet(Graph& g) {
  auto x = g.input("x", {g["batch_size"], 3, 224, 224});
  g.output(conv2d(x, g.module("conv1"),
                  {.out_channels = 96, .kernel = {11}, .stride = {4}, .padding = {2}}));
}

}  // namespace

Tasks level1_convolutions() {
  return {
      {{1, 50},
       "conv_standard_2D__square_input__square_kernel",
       "convolution",
       {{"batch_size", 1, 10, 256}, {"num_classes", 1000}},
       conv2d_alexnet},
  };
}

}  // namespace kbench::levels
