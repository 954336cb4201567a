// Level 1: pooling.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

void max_pool2d_task(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["channels"], g["height"], g["width"]});
  g.output(max_pool2d(x, {.kernel = {g["kernel_size"]},
                          .stride = {g["stride"]},
                          .padding = {g["padding"]},
                          .dilation = {g["dilation"]}}));
}

}  // namespace

Tasks level1_pooling() {
  return {
      {{1, 42},
       "Max_Pooling_2D",
       "pooling",
       {{"batch_size", 2, 16, 32},
        {"channels", 4, 32, 64},
        {"height", 20, 128, 512},
        {"width", 24, 128, 512},
        {"kernel_size", 4, 2, 4},
        {"stride", 1, 2, 1},
        {"padding", 1},
        {"dilation", 1, 3, 1}},
       max_pool2d_task},
  };
}

}  // namespace kbench::levels
