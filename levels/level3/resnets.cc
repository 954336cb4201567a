// Level 3: residual networks.
#include <algorithm>

#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// x in the shape of the block's output, for the sum.
Value downsample(Value x, const Module& m, int64_t channels, int64_t stride) {
  return conv_bn(x, at(m, 0), at(m, 1), {.out_channels = channels, .stride = {stride}});
}

/// x itself where the block keeps its shape.
Value shortcut(Value x, const Module& m, int64_t channels, int64_t stride) {
  if (stride == 1 && x.dim(1) == channels) return x;
  return downsample(x, m.module("downsample"), channels, stride);
}

/// Two 3x3 convolutions, without what they are added to.
Value basic_residual(Value x, const Module& m, int64_t channels, int64_t stride) {
  x = relu(conv_bn(x, m.module("conv1"), m.module("bn1"),
                   {.out_channels = channels, .kernel = {3}, .stride = {stride}, .padding = {1}}));
  return conv_bn(x, m.module("conv2"), m.module("bn2"),
                 {.out_channels = channels, .kernel = {3}, .padding = {1}});
}

Value basic_block(Value x, const Module& m, int64_t channels, int64_t stride) {
  return relu(basic_residual(x, m, channels, stride) + shortcut(x, m, channels, stride));
}

/// A 3x3 convolution between two 1x1; four times as many channels come out.
Value bottleneck(Value x, const Module& m, int64_t channels, int64_t stride) {
  auto y = relu(conv_bn(x, m.module("conv1"), m.module("bn1"), {.out_channels = channels}));
  y = relu(conv_bn(y, m.module("conv2"), m.module("bn2"),
                   {.out_channels = channels, .kernel = {3}, .stride = {stride}, .padding = {1}}));
  y = conv_bn(y, m.module("conv3"), m.module("bn3"), {.out_channels = 4 * channels});
  return relu(y + shortcut(x, m, 4 * channels, stride));
}

using Block = Value (*)(Value x, const Module& m, int64_t channels, int64_t stride);

/// Stages of depths[i] blocks; all but the first begin by halving height and width.
void resnet(Graph& g, Value x, Block block, const std::vector<int64_t>& depths) {
  x = stem(x, g.module("conv1"), g.module("bn1"));
  for (size_t i = 0; i < depths.size(); ++i) {
    const Module layer = g.module("layer" + std::to_string(i + 1));
    for (int64_t j = 0; j < depths[i]; ++j) {
      x = block(x, at(layer, j), int64_t{64} << i, i > 0 && j == 0 ? 2 : 1);
    }
  }
  g.output(classify(x, g.module("fc"), g["num_classes"]));
}

/// Unlike a network's block it always has a projection.
void resnet_basic_block(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["in_channels"], 224, 224});
  const int64_t channels = g["out_channels"], stride = g["stride"];
  g.output(relu(basic_residual(x, g.module(""), channels, stride) +
                downsample(x, g.module("downsample"), channels, stride)));
}

void resnet18(Graph& g) {
  auto x = g.input("x", g.list("input_shape"));
  require_rgb(x);
  resnet(g, x, basic_block, {2, 2, 2, 2});
}

void resnet101(Graph& g) {
  // Four stages of at least one block each; the original reads no further.
  std::vector<int64_t> depths = g.list("layers");
  require(depths.size() >= 4, "layers must hold the depths of 4 stages");
  depths.resize(4);
  for (int64_t& depth : depths) depth = std::max<int64_t>(depth, 1);
  resnet(g, g.input("x", {g["batch_size"], 3, g["height"], g["width"]}), bottleneck, depths);
}

}  // namespace

Tasks level3_resnets() {
  using List = std::vector<int64_t>;
  return {
      {{3, 8},
       "ResNetBasicBlock",
       "convnet",
       {{"in_channels", 3},
        {"out_channels", 16, 64, 64},
        {"stride", 1},
        {"batch_size", 1, 10, 10},
        {"num_classes", 1000}},
       resnet_basic_block},
      {{3, 9},
       "ResNet18",
       "convnet",
       {{"batch_size", 2},
        {"num_classes", 64, 1000, 1000},
        {"input_shape", List{2, 3, 96, 96}, List{2, 3, 224, 224}, List{2, 3, 224, 224}}},
       resnet18},
      {{3, 10},
       "ResNet101",
       "convnet",
       {{"batch_size", 2, 10, 10},
        {"height", 96, 224, 224},
        {"width", 96, 224, 224},
        {"layers", List{3, 4, 23, 3}},
        {"num_classes", 64, 1000, 1000}},
       resnet101,
       {3e-3,
        "statistics of 104 batch norms added up in one float, honest float32 is off by 1.2e-03"}},
  };
}

}  // namespace kbench::levels
