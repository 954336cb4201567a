// Level 1: convolutions.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// x [batch_size, in_channels, ...] with the extents those variables name.
Value channels_input(Graph& g, std::initializer_list<const char*> extents) {
  Shape shape = {g["batch_size"], g["in_channels"]};
  for (const char* extent : extents) shape.push_back(g[extent]);
  return g.input("x", shape);
}

void conv1d_task(Graph& g) {
  g.output(conv1d(channels_input(g, {"length"}), g.module("conv1d"), unbiased_options<Conv>(g)));
}

void conv2d_task(Graph& g) {
  g.output(conv2d(channels_input(g, {"height", "width"}), g.module("conv2d"),
                  unbiased_options<Conv>(g)));
}

/// AlexNet's first layer.
void conv2d_alexnet(Graph& g) {
  auto x = g.input("x", {g["batch_size"], 3, 224, 224});
  g.output(conv2d(x, g.module("conv1"),
                  {.out_channels = 96, .kernel = {11}, .stride = {4}, .padding = {2}}));
}

/// The original names its extents in another order from task to task.
void conv3d_depth_width_height(Graph& g) {
  auto x = channels_input(g, {"depth", "width", "height"});
  g.output(conv3d(x, g.module("conv3d"), unbiased_options<Conv>(g)));
}
void conv3d_width_height_depth(Graph& g) {
  auto x = channels_input(g, {"width", "height", "depth"});
  g.output(conv3d(x, g.module("conv3d"), unbiased_options<Conv>(g)));
}
void conv3d_depth_height_width(Graph& g) {
  auto x = channels_input(g, {"depth", "height", "width"});
  g.output(conv3d(x, g.module("conv3d"), unbiased_options<Conv>(g)));
}

/// A kernel of extent 1 in the last dimension.
void conv3d_flat_kernel(Graph& g) {
  Conv conv = unbiased_options<Conv>(g);
  conv.kernel = {g["kernel_size"], g["kernel_size"], 1};
  g.output(conv3d(channels_input(g, {"height", "width", "depth"}), g.module("conv3d"), conv));
}

void depthwise_conv2d(Graph& g) {
  const int64_t channels = g["in_channels"];
  auto x = channels_input(g, {"height", "width"});
  g.output(conv2d(x, g.module("conv2d"),
                  {.out_channels = channels,
                   .kernel = g.sizes("kernel_size"),
                   .stride = g.sizes("stride"),
                   .padding = g.sizes("padding"),
                   .groups = channels,
                   .bias = false}));
}

void depthwise_conv2d_column_kernel(Graph& g) {
  const int64_t channels = g["in_channels"];
  auto x = channels_input(g, {"height", "width"});
  g.output(conv2d(x, g.module("conv2d"),
                  {.out_channels = channels,
                   .kernel = {g["kernel_size"], 1},
                   .stride = g.sizes("stride"),
                   .padding = g.sizes("padding"),
                   .dilation = g.sizes("dilation"),
                   .groups = channels,
                   .bias = false}));
}

void depthwise_conv2d_multiplier(Graph& g) {
  Conv conv = unbiased_options<Conv>(g);
  conv.groups = g["in_channels"];
  g.output(conv2d(channels_input(g, {"height_in", "width_in"}), g.module("conv2d"), conv));
}

void depthwise_conv2d_asymmetric(Graph& g) {
  const int64_t channels = g["in_channels"];
  auto x = channels_input(g, {"height", "width"});
  g.output(conv2d(x, g.module("conv2d"),
                  {.out_channels = channels,
                   .kernel = {g["kernel_size_h"], g["kernel_size_w"]},
                   .stride = {g["stride_h"], g["stride_w"]},
                   .padding = {g["padding_h"], g["padding_w"]},
                   .dilation = {g["dilation_h"], g["dilation_w"]},
                   .groups = channels,
                   .bias = false}));
}

void depthwise_separable_conv2d(Graph& g) {
  Conv depthwise = unbiased_options<Conv>(g);
  depthwise.out_channels = depthwise.groups = g["in_channels"];
  auto x = conv2d(channels_input(g, {"height", "width"}), g.module("depthwise"), depthwise);
  g.output(conv2d(x, g.module("pointwise"), {.out_channels = g["out_channels"], .bias = false}));
}

void pointwise_conv2d(Graph& g) {
  auto x = channels_input(g, {"height", "width"});
  g.output(conv2d(x, g.module("conv1d"), {.out_channels = g["out_channels"], .bias = false}));
}

}  // namespace

Tasks level1_convolutions() {
  using List = std::vector<int64_t>;
  return {
      {{1, 50},
       "conv_standard_2D__square_input__square_kernel",
       "convolution",
       {{"batch_size", 1, 10, 256}, {"num_classes", 1000}},
       conv2d_alexnet},
      {{1, 54},
       "conv_standard_3D__square_input__square_kernel",
       "convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 3},
        {"out_channels", 16, 64, 64},
        {"kernel_size", 3},
        {"depth", 6, 64, 64},
        {"width", 18, 64, 64},
        {"height", 14, 64, 64}},
       conv3d_depth_width_height},
      {{1, 55},
       "conv_standard_2D__asymmetric_input__square_kernel",
       "convolution",
       {{"batch_size", 2, 16, 8},
        {"height", 14, 128, 512},
        {"width", 18, 256, 1024},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 64, 128},
        {"kernel_size", 3}},
       conv2d_task},
      {{1, 56},
       "conv_standard_2D__asymmetric_input__asymmetric_kernel",
       "convolution",
       {{"batch_size", 2, 16, 8},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 64, 128},
        {"kernel_size", List{5, 7}, List{3, 5}, List{5, 7}},
        {"height", 14, 256, 512},
        {"width", 18, 128, 256}},
       conv2d_task},
      {{1, 59},
       "conv_standard_3D__asymmetric_input__square_kernel",
       "convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 3},
        {"out_channels", 16, 64, 64},
        {"kernel_size", 3},
        {"width", 18, 256, 256},
        {"height", 14, 256, 256},
        {"depth", 6, 10, 10}},
       conv3d_flat_kernel},
      {{1, 60},
       "conv_standard_3D__square_input__asymmetric_kernel",
       "convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 3},
        {"out_channels", 8, 64, 64},
        {"kernel_size", List{3, 5, 7}},
        {"width", 9, 64, 64},
        {"height", 10, 64, 64},
        {"depth", 11, 64, 64}},
       conv3d_width_height_depth},
      {{1, 62},
       "conv_standard_2D__square_input__asymmetric_kernel",
       "convolution",
       {{"batch_size", 2, 16, 8},
        {"in_channels", 8, 3, 32},
        {"out_channels", 16, 64, 64},
        {"kernel_size", List{5, 9}, List{3, 5}, List{5, 9}},
        {"width", 18, 256, 512},
        {"height", 14, 256, 512}},
       conv2d_task},
      {{1, 63},
       "conv_standard_2D__square_input__square_kernel",
       "convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 3, 16},
        {"out_channels", 16, 64, 128},
        {"kernel_size", 3},
        {"width", 18, 256, 1024},
        {"height", 14, 256, 1024}},
       conv2d_task},
      {{1, 66},
       "conv_standard_3D__asymmetric_input__asymmetric_kernel",
       "convolution",
       {{"batch_size", 2, 16, 8},
        {"in_channels", 3},
        {"out_channels", 16, 64, 64},
        {"kernel_size", List{3, 5, 7}},
        {"depth", 6, 16, 16},
        {"height", 14, 256, 128},
        {"width", 18, 256, 128}},
       conv3d_depth_height_width},
      {{1, 67},
       "conv_standard_1D",
       "convolution",
       {{"batch_size", 2, 16, 32},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 64, 128},
        {"kernel_size", 3},
        {"length", 64, 512, 131072}},
       conv1d_task},
      {{1, 76},
       "conv_standard_1D_dilated_strided",
       "convolution",
       {{"batch_size", 2, 16, 64},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 64, 128},
        {"kernel_size", 3},
        {"length", 64, 256, 524280},
        {"stride", 3},
        {"dilation", 4}},
       conv1d_task},
      {{1, 80},
       "conv_standard_2D_square_input_asymmetric_kernel___dilated____padded",
       "convolution",
       {{"batch_size", 2, 16, 8},
        {"in_channels", 8, 3, 32},
        {"out_channels", 16, 64, 64},
        {"kernel_size", List{5, 9}, List{3, 5}, List{5, 9}},
        {"width", 30, 256, 512},
        {"height", 16, 256, 512},
        {"stride", 1},
        {"padding", List{2, 4}, List{1, 2}, List{2, 4}},
        {"dilation", List{2, 3}, List{2, 1}, List{2, 3}}},
       conv2d_task},
      {{1, 82},
       "conv_depthwise_2D_square_input_square_kernel",
       "convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 3, 64},
        {"kernel_size", 3},
        {"width", 18, 256, 512},
        {"height", 14, 256, 512},
        {"stride", 1},
        {"padding", 0}},
       depthwise_conv2d},
      {{1, 83},
       "conv_depthwise_2D_square_input_asymmetric_kernel",
       "convolution",
       {{"batch_size", 2, 16, 64},
        {"in_channels", 8, 3, 8},
        {"kernel_size", 3},
        {"width", 18, 256, 512},
        {"height", 14, 256, 512},
        {"stride", 1},
        {"padding", 0},
        {"dilation", 1}},
       depthwise_conv2d_column_kernel},
      {{1, 84},
       "conv_depthwise_2D_asymmetric_input_square_kernel",
       "convolution",
       {{"batch_size", 2, 16, 64},
        {"in_channels", 8, 3, 128},
        {"out_channels", 16, 3, 128},
        {"kernel_size", 3},
        {"width_in", 16, 256, 512},
        {"height_in", 12, 128, 256},
        {"stride", 1},
        {"padding", 0}},
       depthwise_conv2d_multiplier},
      {{1, 85},
       "conv_depthwise_2D_asymmetric_input_asymmetric_kernel",
       "convolution",
       {{"batch_size", 2, 16, 32},
        {"in_channels", 8, 3, 128},
        {"out_channels", 8, 3, 128},
        {"kernel_size_h", 3},
        {"kernel_size_w", 7, 5, 7},
        {"width", 20, 256, 256},
        {"height", 14, 128, 128},
        {"stride_h", 1},
        {"stride_w", 1},
        {"padding_h", 0},
        {"padding_w", 0},
        {"dilation_h", 1},
        {"dilation_w", 1},
        {"groups", 8, 3, 128}},
       depthwise_conv2d_asymmetric},
      {{1, 86},
       "conv_depthwise_separable_2D",
       "convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 64, 128},
        {"kernel_size", 3},
        {"width", 18, 256, 512},
        {"height", 14, 256, 512},
        {"stride", 1},
        {"padding", 1, 0, 1},
        {"dilation", 1}},
       depthwise_separable_conv2d},
      {{1, 87},
       "conv_pointwise_2D",
       "convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 64, 128},
        {"width", 18, 256, 1024},
        {"height", 14, 256, 1024}},
       pointwise_conv2d},
  };
}

}  // namespace kbench::levels
