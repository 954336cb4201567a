// Level 3: SqueezeNet and other convolutional networks.
#include <array>

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

/// Three linear layers over all of the features.
Value classifier(Value x, const std::array<Module, 3>& layers, int64_t classes) {
  x = relu(linear(flatten(x, 1), layers[0], {.out = 4096}));
  x = relu(linear(x, layers[1], {.out = 4096}));
  return linear(x, layers[2], {.out = classes});
}

void alexnet(Graph& g) {
  const Pooling pool = {.kernel = {3}, .stride = {2}};
  auto x = rgb_images(g, 224);
  x = relu(conv2d(x, g.module("conv1"),
                  {.out_channels = 96, .kernel = {11}, .stride = {4}, .padding = {2}}));
  x = max_pool2d(x, pool);
  x = relu(conv2d(x, g.module("conv2"), {.out_channels = 256, .kernel = {5}, .padding = {2}}));
  x = max_pool2d(x, pool);
  x = relu(conv2d(x, g.module("conv3"), {.out_channels = 384, .kernel = {3}, .padding = {1}}));
  x = relu(conv2d(x, g.module("conv4"), {.out_channels = 384, .kernel = {3}, .padding = {1}}));
  x = relu(conv2d(x, g.module("conv5"), {.out_channels = 256, .kernel = {3}, .padding = {1}}));
  x = max_pool2d(x, pool);
  g.output(classifier(x, {g.module("fc1"), g.module("fc2"), g.module("fc3")}, g["num_classes"]));
}

/// 3x3 convolutions with ReLU, then half of height and width. Entries of `features` are counted
/// on in `index`.
Value vgg_stage(Value x, const Module& features, int64_t& index, int64_t channels, int depth) {
  for (int i = 0; i < depth; ++i, index += 2) {
    x = relu(
        conv2d(x, at(features, index), {.out_channels = channels, .kernel = {3}, .padding = {1}}));
  }
  ++index;
  return max_pool2d(x, {.kernel = {2}});
}

void vgg(Graph& g, const std::array<int, 5>& depths) {
  const Module features = g.module("features"), head = g.module("classifier");
  const std::array<int64_t, 5> channels = {64, 128, 256, 512, 512};
  auto x = rgb_images(g, 224);
  int64_t index = 0;
  for (size_t i = 0; i < 5; ++i) x = vgg_stage(x, features, index, channels[i], depths[i]);
  g.output(classifier(x, {at(head, 0), at(head, 3), at(head, 6)}, g["num_classes"]));
}

void vgg16(Graph& g) { vgg(g, {2, 2, 3, 3, 3}); }
void vgg19(Graph& g) { vgg(g, {2, 2, 4, 4, 4}); }

/// Few channels, then many by 1x1 and by 3x3 convolutions side by side.
Value fire(Value x, const Module& m, int64_t squeeze, int64_t expand_1x1, int64_t expand_3x3) {
  x = relu(conv2d(x, m.module("squeeze"), {.out_channels = squeeze}));
  return cat({relu(conv2d(x, m.module("expand1x1"), {.out_channels = expand_1x1})),
              relu(conv2d(x, m.module("expand3x3"),
                          {.out_channels = expand_3x3, .kernel = {3}, .padding = {1}}))},
             1);
}

void fire_module(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["num_input_features"], g["height"], g["width"]});
  g.output(fire(x, g.module(""), g["squeeze_channels"], g["expand1x1_channels"],
                g["expand3x3_channels"]));
}

void squeezenet(Graph& g) {
  const Pooling pool = {.kernel = {3}, .stride = {2}, .ceil_mode = true};
  const Module features = g.module("features");
  auto x = g.input("x", {g["batch_size"], g["input_channels"], g["height"], g["width"]});
  require_rgb(x);
  x = relu(conv2d(x, at(features, 0), {.out_channels = 96, .kernel = {7}, .stride = {2}}));
  x = max_pool2d(x, pool);
  x = fire(x, at(features, 3), 16, 64, 64);
  x = fire(x, at(features, 4), 16, 64, 64);
  x = fire(x, at(features, 5), 32, 128, 128);
  x = max_pool2d(x, pool);
  x = fire(x, at(features, 7), 32, 128, 128);
  x = fire(x, at(features, 8), 48, 192, 192);
  x = fire(x, at(features, 9), 48, 192, 192);
  x = fire(x, at(features, 10), 64, 256, 256);
  x = max_pool2d(x, pool);
  x = fire(x, at(features, 12), 64, 256, 256);
  x = relu(conv2d(x, g.module("classifier.1"), {.out_channels = g["num_classes"]}));
  g.output(flatten(global_avg_pool(x), 1));
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

// Level 3: plain stacks of convolutions, AlexNet and VGG.

Tasks level3_vgg() {
  return {
      {{3, 5},
       "AlexNet",
       "convnet",
       {{"batch_size", 1, 10, 1024}, {"num_classes", 64, 1000, 1000}},
       alexnet},
      {{3, 11},
       "VGG16",
       "convnet",
       {{"batch_size", 1, 10, 10}, {"num_classes", 64, 1000, 1000}},
       vgg16},
      {{3, 12},
       "VGG19",
       "convnet",
       {{"batch_size", 1, 10, 10}, {"num_classes", 64, 1000, 1000}},
       vgg19},
  };
}

// Level 3: SqueezeNet and its fire module.

Tasks level3_squeezenets() {
  return {
      {{3, 17},
       "SqueezeNetFireModule",
       "convnet",
       {{"batch_size", 2, 10, 128},
        {"num_input_features", 3},
        {"num_output_features", 64},
        {"height", 20, 224, 256},
        {"width", 24, 224, 256},
        {"squeeze_channels", 6},
        {"expand1x1_channels", 64},
        {"expand3x3_channels", 64}},
       fire_module},
      {{3, 18},
       "SqueezeNet",
       "convnet",
       {{"batch_size", 1, 1, 64},
        {"input_channels", 3},
        {"height", 96, 224, 512},
        {"width", 96, 224, 512},
        {"num_classes", 64, 1000, 1000}},
       squeezenet,
       {2e-5, "the first relu moves the result by 3e-5; honest float32 is off by 2e-6 at most"}},
  };
}

}  // namespace kbench::levels
