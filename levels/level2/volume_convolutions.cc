// Level 2: a 3-D convolution and what follows it.
#include <cmath>

#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/level2/inputs.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

void softmax_max_pool_max_pool(Graph& g) {
  const Pooling pool{.kernel = g.sizes("pool_kernel_size")};
  g.output(max_pool3d(max_pool3d(softmax(volume_conv(g), 1), pool), pool));
}

void relu_leaky_relu_gelu_sigmoid_bias(Graph& g) {
  auto x = sigmoid(gelu(leaky_relu(relu(volume_conv(g)), 0.01)));
  g.output(x + shaped_parameter(g, "bias", "bias_shape"));
}

void divide_max_global_avg_pool_bias_sum(Graph& g) {
  auto x = volume_conv(g, distinct_means()) / g.real("divisor");
  x = global_avg_pool(max_pool3d(x, {.kernel = g.sizes("pool_size")}));
  x = x + shaped_parameter(g, "bias", "bias_shape");
  g.output(sum(x, {.axis = static_cast<int>(g["sum_dim"])}));
}

void group_norm_mean(Graph& g) {
  auto x = group_norm(volume_conv(g, distinct_means()), g.module("group_norm"), g["num_groups"]);
  g.output(mean(x, 1, 4, false));
}

void min_softmax(Graph& g) {
  g.output(softmax(min(volume_conv(g), {.axis = static_cast<int>(g["dim"])}), 1));
}

void hardswish_group_norm_mean(Graph& g) {
  auto x = group_norm(hardswish(volume_conv(g, distinct_means())), g.module("group_norm"), 4);
  g.output(mean(x, 2, 4, false));
}

/// A low bias, as it takes for so many channels, and volumes with means of their own: the logarithm
/// lies on both sides of 0.
void max_logsumexp_relu(Graph& g) {
  Conv conv = conv_options<Conv>(g);
  const double low = -std::round(std::log(static_cast<double>(conv.out_channels)) * 100) / 100;
  conv.bias_drawn = uniform(low - 3.2, low - 1.2);
  auto x = max_pool3d(conv3d(volume(g, distinct_means()), g.module("conv"), conv), {.kernel = {2}});
  g.output(relu(logsumexp(x, {.axis = 1, .keepdim = true})));
}

void mish_tanh(Graph& g) { g.output(tanh(mish(volume_conv(g)))); }

void scaling_tanh_multiply_sigmoid(Graph& g) {
  auto x = volume_conv(g) * shaped_parameter(g, "scaling_factor", "bias_shape", uniform(-1, 1));
  g.output(sigmoid(tanh(x) * shaped_parameter(g, "bias", "bias_shape")));
}

void multiply_instance_norm_clamp_multiply_max(Graph& g) {
  auto multiplier = shaped_parameter(g, "multiplier", "multiplier_shape", uniform(-1, 1));
  auto x = instance_norm(volume_conv(g) * multiplier, g.module("instance_norm"));
  x = clamp(x, g.real("clamp_min"), g.real("clamp_max")) * multiplier;
  g.output(max(x, {.axis = 1}));
}

/// Dropout at probability 0 is the identity.
void group_norm_min_clamp_dropout(Graph& g) {
  auto x = group_norm(volume_conv(g), g.module("norm"), g["groups"]);
  x = clamp_max(x, g.real("min_value"));
  g.output(clamp(x, g.real("min_value"), g.real("max_value")));
}

void leaky_relu_sum_clamp_gelu(Graph& g) {
  auto x = leaky_relu(volume_conv(g), 0.2);
  x = x + shaped_parameter(g, "sum_tensor", "sum_tensor_shape", uniform(-1, 1));
  g.output(gelu(clamp(x, -1, 1)));
}

}  // namespace

Tasks level2_volume_convolutions() {
  using List = std::vector<int64_t>;
  return {
      {{2, 6},
       "Conv3d_Softmax_MaxPool_MaxPool",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 3},
        {"out_channels", 16},
        {"depth", 10, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 3},
        {"pool_kernel_size", 2}},
       softmax_max_pool_max_pool},
      {{2, 7},
       "Conv3d_ReLU_LeakyReLU_GELU_Sigmoid_BiasAdd",
       "convolution",
       {{"batch_size", 2, 128, 64},
        {"in_channels", 8, 3, 8},
        {"out_channels", 16, 16, 32},
        {"depth", 6, 16, 32},
        {"height", 14, 32, 64},
        {"width", 18, 32, 64},
        {"kernel_size", 3},
        {"bias_shape", Follows{"out_channels", 1, 1, 1}}},
       relu_leaky_relu_gelu_sigmoid_bias,
       {},
       {identity("leaky_relu", "relu before it leaves nothing below 0")}},
      {{2, 8},
       "Conv3d_Divide_Max_GlobalAvgPool_BiasAdd_Sum",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 16},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 64},
        {"width", 18, 32, 64},
        {"kernel_size", List{3, 3, 3}},
        {"divisor", 2.0},
        {"pool_size", List{2, 2, 2}},
        {"bias_shape", Follows{"out_channels", 1, 1, 1}},
        {"sum_dim", 1}},
       divide_max_global_avg_pool_bias_sum,
       {1.5e-6,
        "added up in one float, honest float32 is off by 6e-07; fewer bits are not told from it at "
        "v0.1"}},
      {{2, 23},
       "Conv3d_GroupNorm_Mean",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 3},
        {"out_channels", 16, 16, 24},
        {"D", 6, 16, 24},
        {"H", 10, 32, 32},
        {"W", 12, 32, 32},
        {"kernel_size", 3},
        {"num_groups", 8}},
       group_norm_mean},
      {{2, 24},
       "Conv3d_Min_Softmax",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 3},
        {"out_channels", 16, 16, 24},
        {"D", 6, 16, 24},
        {"H", 10, 32, 32},
        {"W", 12, 32, 32},
        {"kernel_size", 3},
        {"dim", 2}},
       min_softmax},
      {{2, 27},
       "Conv3d_HardSwish_GroupNorm_Mean",
       "convolution",
       {{"batch_size", 2, 128, 1024},
        {"in_channels", 3},
        {"out_channels", 16},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 4, 3, 4}},
       hardswish_group_norm_mean,
       {4e-4,
        "added up in one float, honest float32 is off by 1.8e-04: a mean of normalised values, "
        "which cancel"}},
      {{2, 43},
       "Conv3d_Max_LogSumExp_ReLU",
       "convolution",
       {{"batch_size", 2, 128, 4},
        {"in_channels", 8, 3, 32},
        {"out_channels", 16, 16, 64},
        {"depth", 6, 16, 32},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"stride", 1},
        {"padding", 1}},
       max_logsumexp_relu},
      {{2, 47},
       "Conv3d_Mish_Tanh",
       "convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 3, 32},
        {"out_channels", 16, 16, 64},
        {"D", 6, 16, 32},
        {"H", 10, 32, 64},
        {"W", 12, 32, 64},
        {"kernel_size", 3}},
       mish_tanh},
      {{2, 48},
       "Conv3d_Scaling_Tanh_Multiply_Sigmoid",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 3},
        {"out_channels", 16},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 64},
        {"width", 18, 32, 64},
        {"kernel_size", 3},
        {"scaling_factor", 2},
        {"bias_shape", Follows{"out_channels", 1, 1, 1}}},
       scaling_tanh_multiply_sigmoid,
       {2e-5,
        "honest float32 is off by 2e-07 at most, and what is rounded to fewer bits by 3e-05"}},
      {{2, 79},
       "Conv3d_Multiply_InstanceNorm_Clamp_Multiply_Max",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 3},
        {"out_channels", 16},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 3},
        {"multiplier_shape", Follows{"out_channels", 1, 1, 1}},
        {"clamp_min", -1.0},
        {"clamp_max", 1.0}},
       multiply_instance_norm_clamp_multiply_max,
       {},
       {bias_before_norm("conv3d")}},
      {{2, 83},
       "Conv3d_GroupNorm_Min_Clamp_Dropout",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 3},
        {"out_channels", 16},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 64},
        {"width", 18, 32, 64},
        {"kernel_size", 3},
        {"groups", 8},
        {"min_value", 0.0},
        {"max_value", 1.0},
        {"dropout_p", 0.2}},
       group_norm_min_clamp_dropout,
       {},
       {},
       "min(x, 0) is at most 0, and clamp(., 0, 1) of it is 0"},
      {{2, 90},
       "Conv3d_LeakyReLU_Sum_Clamp_GELU",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 16, 16, 64},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 64},
        {"width", 18, 32, 64},
        {"kernel_size", 3},
        {"sum_tensor_shape", Follows{"out_channels", 1, 1, 1}}},
       leaky_relu_sum_clamp_gelu},
  };
}

}  // namespace kbench::levels
