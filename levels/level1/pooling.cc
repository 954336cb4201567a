// Level 1: pooling.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Kernel, stride, padding and dilation as far as the task has them.
Pooling window(const Graph& g) {
  Pooling pool{.kernel = g.sizes("kernel_size")};
  if (g.has("stride")) pool.stride = g.sizes("stride");
  if (g.has("padding")) pool.padding = g.sizes("padding");
  if (g.has("dilation")) pool.dilation = g.sizes("dilation");
  return pool;
}

/// The original can hand out the maxima's positions too.
void max_pool1d_task(Graph& g) {
  require(g["return_indices"] == 0, "return_indices must be 0: positions are not computed");
  auto x = g.input("x", {g["batch_size"], g["features"], g["sequence_length"]});
  g.output(max_pool1d(x, window(g)));
}

void max_pool2d_task(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["channels"], g["height"], g["width"]});
  g.output(max_pool2d(x, window(g)));
}

void max_pool3d_task(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["channels"], g["dim1"], g["dim2"], g["dim3"]});
  g.output(max_pool3d(x, window(g)));
}

void avg_pool1d_task(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["in_channels"], g["input_length"]});
  g.output(avg_pool1d(x, window(g)));
}

void avg_pool2d_task(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["channels"], g["height"], g["width"]});
  g.output(avg_pool2d(x, window(g)));
}

void avg_pool3d_task(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["channels"], g["depth"], g["height"], g["width"]});
  g.output(avg_pool3d(x, window(g)));
}

}  // namespace

Tasks level1_pooling() {
  return {
      {{1, 41},
       "Max_Pooling_1D",
       "pooling",
       {{"batch_size", 2, 16, 64},
        {"features", 6, 64, 192},
        {"sequence_length", 64, 128, 65536},
        {"kernel_size", 8, 4, 8},
        {"stride", 1, 2, 1},
        {"padding", 4, 2, 4},
        {"dilation", 3},
        {"return_indices", 0}},
       max_pool1d_task},
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
      {{1, 43},
       "Max_Pooling_3D",
       "pooling",
       {{"batch_size", 2, 16, 16},
        {"channels", 3, 32, 32},
        {"dim1", 12, 64, 128},
        {"dim2", 14, 64, 128},
        {"dim3", 16, 64, 128},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"dilation", 3}},
       max_pool3d_task},
      {{1, 44},
       "Average_Pooling_1D",
       "pooling",
       {{"batch_size", 2, 16, 64},
        {"in_channels", 6, 32, 128},
        {"input_length", 64, 128, 65536},
        {"kernel_size", 8, 4, 8},
        {"stride", 1, 2, 1},
        {"padding", 4, 1, 4}},
       avg_pool1d_task},
      {{1, 45},
       "Average_Pooling_2D",
       "pooling",
       {{"batch_size", 2, 16, 16},
        {"channels", 4, 64, 64},
        {"height", 45, 256, 2048},
        {"width", 60, 256, 2048},
        {"kernel_size", 11, 3, 11}},
       avg_pool2d_task},
      {{1, 46},
       "Average_Pooling_3D",
       "pooling",
       {{"batch_size", 2, 16, 16},
        {"channels", 3, 32, 32},
        {"depth", 8, 64, 128},
        {"height", 10, 64, 128},
        {"width", 12, 64, 256},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1}},
       avg_pool3d_task},
  };
}

}  // namespace kbench::levels
