// Level 3: other convolutional networks.
#include "kbench/ops.h"
#include "levels/blocks.h"
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

/// Twice a 3x3 convolution, batch norm and an activation.
Value double_conv(Value x, const Module& m, int64_t channels, Value (*activation)(Value)) {
  const Conv conv = {.out_channels = channels, .kernel = {3}, .padding = {1}};
  x = activation(batch_norm(conv2d(x, at(m, 0), conv), at(m, 1)));
  return activation(batch_norm(conv2d(x, at(m, 3), conv), at(m, 4)));
}

void regnet(Graph& g) {
  auto x =
      g.input("x", {g["batch_size"], g["input_channels"], g["image_height"], g["image_width"]});
  const auto& widths = g.list("block_widths");
  const int64_t stages = g["stages"];
  require(stages > 0 && stages <= static_cast<int64_t>(widths.size()),
          "stages must be positive and no more than there are block_widths");
  for (int64_t stage = 0; stage < stages; ++stage) {
    x = double_conv(x, at(g.module("feature_extractor"), stage), widths[static_cast<size_t>(stage)],
                    relu);
    x = max_pool2d(x, {.kernel = {2}});
  }
  require(x.dim(1) == widths.back(), "linear", x,
          "the module takes the last of block_widths, " + std::to_string(widths.back()));
  g.output(classify(x, g.module("fc"), g["output_classes"]));
}

Value softmax_over_width(Value x) { return softmax(x, -1); }

/// Down four levels, keeping each, and up again beside what was kept.
void unet_softmax(Graph& g) {
  const int64_t features = g["features"];
  require(features > 0 && features < int64_t{1} << 31, "features must be positive and below 2^31");
  const auto conv_pair = [&](Value x, const std::string& name, int level) {
    return double_conv(x, g.module(name + ".double_conv"), features << level, softmax_over_width);
  };
  auto x = g.input("x", {g["batch_size"], g["in_channels"], g["height"], g["width"]});
  std::vector<Value> kept;
  for (int level = 0; level < 4; ++level) {
    kept.push_back(conv_pair(x, "encoder" + std::to_string(level + 1), level));
    x = max_pool2d(kept.back(), {.kernel = {2}});
  }
  x = conv_pair(x, "bottleneck", 4);
  for (int level = 3; level >= 0; --level) {
    const std::string number = std::to_string(level + 1);
    x = conv_transpose2d(x, g.module("upconv" + number),
                         {.out_channels = features << level, .kernel = {2}, .stride = {2}});
    x = conv_pair(cat({x, kept[static_cast<size_t>(level)]}, 1), "decoder" + number, level);
  }
  g.output(conv2d(x, g.module("final_conv"), {.out_channels = g["out_channels"]}));
}

}  // namespace

Tasks level3_convnets() {
  using List = std::vector<int64_t>;
  return {
      {{3, 4},
       "LeNet5",
       "convnet",
       {{"batch_size", 4, 1, 4096}, {"num_classes", 20, 10, 20}},
       lenet5},
      {{3, 27},
       "RegNet",
       "convnet",
       {{"batch_size", 2, 8, 8},
        {"input_channels", 3},
        {"image_height", 32, 224, 224},
        {"image_width", 40, 224, 224},
        {"stages", 3},
        {"block_widths", List{16, 24, 32}, List{64, 128, 256}, List{64, 128, 256}},
        {"output_classes", 10}},
       regnet,
       {3e-5, "honest float32 is off by 6e-07 at most, and what is rounded to fewer bits by 5e-05"},
       {bias_before_norm("conv2d")}},
      {{3, 45},
       "UNetSoftmax",
       "convnet",
       {{"batch_size", 2, 8, 8},
        {"in_channels", 3, 8, 8},
        {"out_channels", 4},
        {"height", 32, 64, 64},
        {"width", 48, 512, 512},
        {"features", 8, 64, 64}},
       unet_softmax,
       {1e-1, "float32 PyTorch itself is off by 2.2e-2 of the RMS: softmax after every block"},

       {{{"without the bias of *batch_norm*", "without the bias of *conv2d*double_conv*"},
         "it is the same for a whole channel: the softmax along its rows takes it away, and so "
         "does the norm"}}},
  };
}

}  // namespace kbench::levels
