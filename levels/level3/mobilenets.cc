// Level 3: MobileNets and EfficientNets, built on depthwise convolutions.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// A depthwise 3x3 convolution, then a 1x1.
Value separable_conv(Value x, const Module& m, int64_t channels, int64_t stride) {
  x = relu(depthwise_bn(x, at(m, 0), at(m, 1), 3, stride));
  return relu(conv_bn(x, at(m, 3), at(m, 4), {.out_channels = channels}));
}

void mobilenet_v1(Graph& g) {
  struct Layer {
    int64_t channels, stride;
  };
  const Layer layers[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                          {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
  const double alpha = g.real("alpha");
  require(alpha > 0 && alpha <= 1024, "alpha must lie between 0 and 1024");
  const auto width = [&](int64_t channels) {
    return static_cast<int64_t>(static_cast<double>(channels) * alpha);
  };
  const Module model = g.module("model");
  auto x = g.input("x", {g["batch_size"], g["input_channels"], g["height"], g["width"]});
  x = relu(conv_bn(x, model.module("0.0"), model.module("0.1"),
                   {.out_channels = width(32), .kernel = {3}, .stride = {2}, .padding = {1}}));
  int64_t index = 1;
  for (const Layer& layer : layers) {
    x = separable_conv(x, at(model, index++), width(layer.channels), layer.stride);
  }
  x = flatten(avg_pool2d(x, {.kernel = {7}}), 1);
  require(x.dim(1) == width(1024), "linear", x,
          "the module takes " + std::to_string(width(1024)) + " features, those of 224 x 224");
  g.output(linear(x, g.module("fc"), {.out = g["num_classes"]}));
}

/// 1x1 to `hidden` channels, depthwise 3x3, 1x1, as one Sequential; no sum with x, here as in the
/// originals.
Value inverted_bottleneck(Value x, const Module& m, int64_t hidden, int64_t channels,
                          int64_t stride) {
  x = relu6(conv_bn(x, at(m, 0), at(m, 1), {.out_channels = hidden}));
  x = relu6(depthwise_bn(x, at(m, 3), at(m, 4), 3, stride));
  return conv_bn(x, at(m, 6), at(m, 7), {.out_channels = channels});
}

/// The same without the first 1x1.
Value flat_bottleneck(Value x, const Module& m, int64_t channels, int64_t stride) {
  x = relu6(depthwise_bn(x, at(m, 0), at(m, 1), 3, stride));
  return conv_bn(x, at(m, 3), at(m, 4), {.out_channels = channels});
}

void mobilenet_v2(Graph& g) {
  struct Stage {
    int64_t channels, blocks, stride;
  };
  const Stage stages[] = {{24, 2, 2}, {32, 3, 2}, {64, 4, 2}, {96, 3, 1}, {160, 3, 2}, {320, 1, 1}};
  const Module features = g.module("features");
  auto x = relu6(conv_bn(rgb_images(g, 224), at(features, 0), at(features, 1),
                         {.out_channels = 32, .kernel = {3}, .stride = {2}, .padding = {1}}));
  x = flat_bottleneck(x, at(features, 3), 16, 1);
  int64_t index = 4;
  for (const Stage& stage : stages) {
    for (int64_t i = 0; i < stage.blocks; ++i) {
      x = inverted_bottleneck(x, at(features, index++), 6 * x.dim(1), stage.channels,
                              i == 0 ? stage.stride : 1);
    }
  }
  x = relu6(conv_bn(x, at(features, index), at(features, index + 1), {.out_channels = 1280}));
  g.output(classify(x, g.module("classifier.1"), g["num_classes"]));
}

/// A mobile inverted bottleneck.
struct MBConv {
  int64_t channels, kernel, stride, expand_ratio;
};

Value mbconv(Value x, const Module& m, const MBConv& o) {
  auto y = x;
  if (o.expand_ratio != 1) {
    y = relu6(conv_bn(y, m.module("expand_conv.0"), m.module("expand_conv.1"),
                      {.out_channels = x.dim(1) * o.expand_ratio}));
  }
  y = relu6(depthwise_bn(y, m.module("depthwise_conv.0"), m.module("depthwise_conv.1"), o.kernel,
                         o.stride));
  y = conv_bn(y, m.module("project_conv.0"), m.module("project_conv.1"),
              {.out_channels = o.channels});
  return o.stride == 1 && x.dim(1) == o.channels ? y + x : y;
}

/// How EfficientNets begin: half of height and width, 32 channels.
Value efficientnet_stem(Graph& g, Value x) {
  return relu(conv_bn(x, g.module("conv1"), g.module("bn1"),
                      {.out_channels = 32, .kernel = {3}, .stride = {2}, .padding = {1}}));
}

/// And how they end.
Value efficientnet_head(Graph& g, Value x, const Module& conv, const Module& norm,
                        int64_t channels) {
  x = relu(conv_bn(x, conv, norm, {.out_channels = channels}));
  return classify(x, g.module("fc"), g["num_classes"]);
}

void efficientnet_mbconv(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["in_channels"], 224, 224});
  g.output(mbconv(x, g.module(""),
                  {g["out_channels"], g["kernel_size"], g["stride"], g["expand_ratio"]}));
}

void efficientnet_b0(Graph& g) {
  const MBConv blocks[] = {{16, 3, 1, 1},  {24, 3, 2, 6},  {24, 3, 1, 6},  {40, 5, 2, 6},
                           {40, 5, 1, 6},  {80, 3, 2, 6},  {80, 3, 1, 6},  {112, 5, 1, 6},
                           {112, 5, 1, 6}, {192, 5, 2, 6}, {192, 5, 1, 6}, {192, 5, 1, 6},
                           {320, 3, 1, 6}};
  auto x = efficientnet_stem(g, rgb_images(g, 224));
  int64_t index = 0;
  for (const MBConv& block : blocks) x = mbconv(x, at(g.module("blocks"), index++), block);
  g.output(efficientnet_head(g, x, g.module("conv2"), g.module("bn2"), 1280));
}

void efficientnet_b1(Graph& g) {
  Shape shape = g.list("input_shape");
  shape.insert(shape.begin(), g["batch_size"]);
  auto image = g.input("x", shape);
  require_rgb(image);
  auto x = efficientnet_stem(g, image);
  x = inverted_bottleneck(x, g.module("mbconv1"), x.dim(1), 16, 1);
  x = inverted_bottleneck(x, g.module("mbconv2"), 6 * x.dim(1), 24, 2);
  x = inverted_bottleneck(x, g.module("mbconv3"), 6 * x.dim(1), 40, 2);
  x = inverted_bottleneck(x, g.module("mbconv4"), 6 * x.dim(1), 80, 2);
  x = inverted_bottleneck(x, g.module("mbconv5"), 6 * x.dim(1), 112, 1);
  x = inverted_bottleneck(x, g.module("mbconv6"), 6 * x.dim(1), 192, 2);
  x = inverted_bottleneck(x, g.module("mbconv7"), 6 * x.dim(1), 320, 1);
  g.output(efficientnet_head(g, x, g.module("conv2"), g.module("bn2"), 1280));
}

/// Squeeze and excitation stands in the original's Sequential, so that the gates of each image
/// replace its features instead of scaling them: 1x1 is left of height and width.
Value gated_bottleneck(Value x, const Module& m, int64_t expand_ratio, int64_t channels,
                       int64_t stride) {
  const int64_t hidden = expand_ratio * x.dim(1);
  x = relu(conv_bn(x, at(m, 0), at(m, 1), {.out_channels = hidden}));
  x = relu(depthwise_bn(x, at(m, 3), at(m, 4), 3, stride));
  x = global_avg_pool(x);
  x = relu(conv2d(x, at(m, 7), {.out_channels = hidden / 4, .bias = false}));
  x = sigmoid(conv2d(x, at(m, 9), {.out_channels = hidden, .bias = false}));
  return conv_bn(x, at(m, 11), at(m, 12), {.out_channels = channels});
}

void efficientnet_b2(Graph& g) {
  auto x = efficientnet_stem(g, rgb_images(g, 224));
  x = gated_bottleneck(x, g.module("mbconv1"), 3, 96, 1);
  x = gated_bottleneck(x, g.module("mbconv2"), 6, 144, 2);
  x = gated_bottleneck(x, g.module("mbconv3"), 6, 192, 2);
  x = gated_bottleneck(x, g.module("mbconv4"), 6, 288, 2);
  x = gated_bottleneck(x, g.module("mbconv5"), 6, 384, 1);
  g.output(efficientnet_head(g, x, g.module("conv_final"), g.module("bn_final"), 1408));
}

}  // namespace

Tasks level3_mobilenets() {
  using List = std::vector<int64_t>;
  return {
      {{3, 19},
       "MobileNetV1",
       "convnet",
       {{"batch_size", 2, 10, 10},
        {"input_channels", 3},
        {"height", 224},
        {"width", 224},
        {"num_classes", 64, 1000, 1000},
        {"alpha", 0.5, 1.0, 1.0}},
       mobilenet_v1,
       {1.5e-3,
        "statistics of 27 batch norms added up in one float, honest float32 is off by 6e-04"}},
      {{3, 20},
       "MobileNetV2",
       "convnet",
       {{"batch_size", 1, 10, 10}, {"num_classes", 64, 1000, 1000}},
       mobilenet_v2,
       {8e-3, "statistics of 52 batch norms added up in one float, honest float32 is off by 3e-03"},
       {bias_before_one_tap("features.3.4"), bias_before_one_tap("features.?.7"),
        bias_before_one_tap("features.??.7")}},
      {{3, 21},
       "EfficientNetMBConv",
       "convnet",
       {{"batch_size", 1, 10, 10},
        {"in_channels", 12, 112, 112},
        {"out_channels", 20, 192, 192},
        {"kernel_size", 5},
        {"stride", 2},
        {"expand_ratio", 6}},
       efficientnet_mbconv,
       {1.5e-4,
        "statistics of 3 batch norms added up in one float, honest float32 is off by 4e-05"}},
      {{3, 22},
       "EfficientNetB0",
       "convnet",
       {{"batch_size", 1, 10, 10}, {"num_classes", 64, 1000, 1000}},
       efficientnet_b0,
       {5e-4, "statistics of 40 batch norms added up in one float, honest float32 is off by 2e-04"},
       {bias_before_one_tap("blocks.*.project_conv.1")}},
      {{3, 23},
       "EfficientNetB1",
       "convnet",
       {{"batch_size", 2, 10, 10},
        {"input_shape", List{3, 96, 96}, List{3, 240, 240}, List{3, 240, 240}},
        {"num_classes", 64, 1000, 1000}},
       efficientnet_b1,
       {2e-4, "statistics of 23 batch norms added up in one float, honest float32 is off by 7e-05"},
       {bias_before_one_tap("mbconv?.7")}},
      {{3, 24},
       "EfficientNetB2",
       "convnet",
       {{"batch_size", 6, 2, 2}, {"num_classes", 64, 1000, 1000}},
       efficientnet_b2,
       {1e-1,
        "float32 PyTorch itself is off by 1.3e-2 of the RMS at smoke; at v0 and v0.1 the last "
        "batch norms see a handful of values and no float32 result is near the truth"},
       {bias_before_one_tap("mbconv?.12"),
        {{"without *mean (number [2-6]*", "without 5 calls of mean",
          "conv2d 'mbconv[2-5].3' with*tap*", "*calls of conv2d with*tap*"},
         "from the first squeeze on an image is one pixel: its mean is itself, and of a padded "
         "kernel only the middle tap meets it"}}},
  };
}

}  // namespace kbench::levels
