// Level 3: GoogLeNet and its inception module.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Channels of an inception module's branches.
struct Inception {
  int64_t out_1x1, reduce_3x3, out_3x3, reduce_5x5, out_5x5, pool_proj;
};

/// A 1x1 convolution to `reduce` channels, then a larger one. No activation between.
Value inception_branch(Value x, const Module& m, int64_t reduce, int64_t out, int64_t kernel) {
  x = conv2d(x, at(m, 0), {.out_channels = reduce});
  return conv2d(x, at(m, 1), {.out_channels = out, .kernel = {kernel}, .padding = {kernel / 2}});
}

Value inception(Value x, const Module& m, const Inception& c) {
  auto pooled = max_pool2d(x, {.kernel = {3}, .stride = {1}, .padding = {1}});
  return cat({conv2d(x, m.module("branch1x1"), {.out_channels = c.out_1x1}),
              inception_branch(x, m.module("branch3x3"), c.reduce_3x3, c.out_3x3, 3),
              inception_branch(x, m.module("branch5x5"), c.reduce_5x5, c.out_5x5, 5),
              conv2d(pooled, m.module("branch_pool.1"), {.out_channels = c.pool_proj})},
             1);
}

void inception_module(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["in_channels"], g["height"], g["width"]});
  g.output(inception(x, g.module(""),
                     {g["out_1x1"], g["reduce_3x3"], g["out_3x3"], g["reduce_5x5"], g["out_5x5"],
                      g["pool_proj"]}));
}

void googlenet(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["input_channels"], g["height"], g["width"]});
  require_rgb(x);
  x = relu(conv2d(x, g.module("conv1"),
                  {.out_channels = 64, .kernel = {7}, .stride = {2}, .padding = {3}}));
  x = relu(conv2d(halving_max_pool(x), g.module("conv2"), {.out_channels = 64}));
  x = relu(conv2d(x, g.module("conv3"), {.out_channels = 192, .kernel = {3}, .padding = {1}}));
  x = halving_max_pool(x);
  x = inception(x, g.module("inception3a"), {64, 96, 128, 16, 32, 32});
  x = inception(x, g.module("inception3b"), {128, 128, 192, 32, 96, 64});
  x = halving_max_pool(x);
  x = inception(x, g.module("inception4a"), {192, 96, 208, 16, 48, 64});
  x = inception(x, g.module("inception4b"), {160, 112, 224, 24, 64, 64});
  x = inception(x, g.module("inception4c"), {128, 128, 256, 24, 64, 64});
  x = inception(x, g.module("inception4d"), {112, 144, 288, 32, 64, 64});
  x = inception(x, g.module("inception4e"), {256, 160, 320, 32, 128, 128});
  x = halving_max_pool(x);
  x = inception(x, g.module("inception5a"), {256, 160, 320, 32, 128, 128});
  x = inception(x, g.module("inception5b"), {384, 192, 384, 48, 128, 128});
  g.output(classify(x, g.module("fc"), g["num_classes"]));
}

}  // namespace

Tasks level3_inception() {
  return {
      {{3, 6},
       "GoogleNetInceptionModule",
       "convnet",
       {{"in_channels", 48, 480, 480},
        {"out_1x1", 24, 192, 192},
        {"reduce_3x3", 12, 96, 96},
        {"out_3x3", 26, 208, 208},
        {"reduce_5x5", 4, 16, 16},
        {"out_5x5", 8, 48, 48},
        {"pool_proj", 10, 64, 64},
        {"batch_size", 2, 10, 10},
        {"height", 14, 224, 224},
        {"width", 18, 224, 224}},
       inception_module},
      {{3, 7},
       "GoogleNetInceptionV1",
       "convnet",
       {{"batch_size", 1, 10, 10},
        {"input_channels", 3},
        {"height", 96, 224, 224},
        {"width", 96, 224, 224},
        {"num_classes", 64, 1000, 1000}},
       googlenet},
  };
}

}  // namespace kbench::levels
