// Level 3: ShuffleNet and its unit.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Channel i of group j becomes channel j of i's group, so that the next grouped convolution sees
/// all groups.
Value channel_shuffle(Value x, int64_t groups) {
  auto grouped = reshape(x, {x.dim(0), groups, x.dim(1) / groups, x.dim(2), x.dim(3)});
  return reshape(transpose(grouped, 1, 2), x.shape());
}

Value shuffle_unit(Value x, const Module& m, int64_t channels, int64_t groups) {
  require(channels % 4 == 0, "shuffle unit", x,
          "output channels must be a multiple of 4, not " + std::to_string(channels));
  auto y = relu(conv_bn(x, m.module("conv1"), m.module("bn1"),
                        {.out_channels = channels / 4, .groups = groups}));
  y = depthwise_bn(y, m.module("conv2"), m.module("bn2"), 3, 1);
  y = relu(conv_bn(channel_shuffle(y, groups), m.module("conv3"), m.module("bn3"),
                   {.out_channels = channels, .groups = groups}));
  if (x.dim(1) == channels) return y + x;
  return y + conv_bn(x, m.module("shortcut.0"), m.module("shortcut.1"), {.out_channels = channels});
}

void shufflenet_unit(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["input_channels"], g["height"], g["width"]});
  g.output(shuffle_unit(x, g.module(""), g["out_channels"], g["groups"]));
}

void shufflenet(Graph& g) {
  struct Stage {
    const char* name;
    int64_t channels, units;
  };
  auto x = g.input("x", {g["batch_size"], g["input_channels"], g["height"], g["width"]});
  require_rgb(x);
  x = relu(conv_bn(x, g.module("conv1"), g.module("bn1"),
                   {.out_channels = 24, .kernel = {3}, .stride = {2}, .padding = {1}}));
  x = halving_max_pool(x);
  for (const Stage& stage : {Stage{"stage2", 240, 3}, {"stage3", 480, 7}, {"stage4", 960, 3}}) {
    for (int64_t i = 0; i < stage.units; ++i) {
      x = shuffle_unit(x, at(g.module(stage.name), i), stage.channels, 3);
    }
  }
  x = relu(conv_bn(x, g.module("conv5"), g.module("bn5"), {.out_channels = 1024}));
  g.output(classify(x, g.module("fc"), g["num_classes"]));
}

}  // namespace

Tasks level3_shufflenets() {
  return {
      {{3, 25},
       "ShuffleNetUnit",
       "convnet",
       {{"batch_size", 1, 10, 10},
        {"input_channels", 24, 240, 240},
        {"out_channels", 48, 480, 480},
        {"groups", 3},
        {"height", 224},
        {"width", 224},
        {"num_classes", 1000}},
       shufflenet_unit,
       {},
       {bias_before_one_tap("bn2")}},
      {{3, 26},
       "ShuffleNet",
       "convnet",
       {{"batch_size", 1, 10, 10},
        {"input_channels", 3},
        {"height", 224},
        {"width", 224},
        {"num_classes", 64, 1000, 1000}},
       shufflenet,
       {2.5e-5,
        "statistics of batch norms added up in one float, honest float32 is off by 1e-05, and what "
        "is rounded to fewer bits by 3e-05"},
       {bias_before_one_tap("stage*.bn2"), bias_before_one_tap("stage*.shortcut.1")}},
  };
}

}  // namespace kbench::levels
