// Level 2: a 2-D convolution and what follows it.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/level2/inputs.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

void relu_bias(Graph& g) {
  auto x = relu(image_conv(g));
  g.output(x + shaped_parameter(g, "bias", "bias_shape"));
}

void conv_mish_mish(Graph& g) { g.output(mish(mish(image_conv(g)))); }

void instance_norm_divide(Graph& g) {
  g.output(instance_norm(image_conv(g), g.module("instance_norm")) / g.real("divide_by"));
}

void add_scale_sigmoid_group_norm(Graph& g) {
  auto x = image_conv(g) + shaped_parameter(g, "bias", "bias_shape");
  x = sigmoid(x * shaped_parameter(g, "scale", "scale_shape", uniform(-1, 1)));
  g.output(group_norm(x, g.module("group_norm"), g["num_groups"]));
}

void min_tanh_tanh(Graph& g) {
  g.output(tanh(tanh(min(image_conv(g), {.axis = 1, .keepdim = true}))));
}

void min_add_multiply(Graph& g) {
  auto x = clamp_max(image_conv(g), g.real("constant_value"));
  g.output((x + shaped_parameter(g, "bias", "bias_shape")) * g.real("scaling_factor"));
}

void scaling_min(Graph& g) {
  g.output(min(image_conv(g) * g.real("scale_factor"), {.axis = 1, .keepdim = true}));
}

void subtract_hardswish_max_pool_mish(Graph& g) {
  auto x = hardswish(image_conv(g) - g.real("subtract_value"));
  g.output(mish(max_pool2d(x, {.kernel = g.sizes("pool_kernel_size")})));
}

void subtract_tanh_subtract_avg_pool(Graph& g) {
  auto x = tanh(image_conv(g) - g.real("subtract1_value")) - g.real("subtract2_value");
  g.output(avg_pool2d(x, {.kernel = g.sizes("kernel_size_pool")}));
}

void activation_batch_norm(Graph& g) {
  auto x = image_conv(g);
  g.output(batch_norm(tanh(softplus(x)) * x, g.module("bn")));
}

void multiply_leaky_relu_gelu(Graph& g) {
  auto x = image_conv(g) * shaped_parameter(g, "multiplier", "multiplier_shape", uniform(-1, 1));
  g.output(gelu(leaky_relu(x, 0.01)));
}

void relu_hardswish(Graph& g) {
  auto x = relu(image_conv(g));
  g.output(x * clamp((x + 3) / 6, 0, 1));
}

void avg_pool_sigmoid_sum(Graph& g) {
  auto x =
      sigmoid(avg_pool2d(image_conv(g, distinct_means()), {.kernel = g.sizes("pool_kernel_size")}));
  g.output(sum(x, 1, 3, false));
}

void gelu_global_avg_pool(Graph& g) {
  g.output(squeeze(squeeze(global_avg_pool(gelu(image_conv(g, distinct_means()))), -1), -1));
}

void hardswish_relu(Graph& g) { g.output(relu(hardswish(image_conv(g)))); }

void divide_leaky_relu(Graph& g) { g.output(leaky_relu(image_conv(g) / g.real("divisor"), 0.01)); }

void batch_norm_scaling(Graph& g) {
  g.output(batch_norm(image_conv(g), g.module("bn")) * g.real("scaling_factor"));
}

void tanh_scaling_bias_max_pool(Graph& g) {
  auto x =
      tanh(image_conv(g)) * g.real("scaling_factor") + shaped_parameter(g, "bias", "bias_shape");
  g.output(max_pool2d(x, {.kernel = g.sizes("pool_kernel_size")}));
}

void group_norm_scale_max_pool_clamp(Graph& g) {
  auto x = group_norm(image_conv(g), g.module("group_norm"), g["num_groups"]);
  x = x * shaped_parameter(g, "scale", "scale_shape", uniform(-1, 1));
  x = max_pool2d(x, {.kernel = g.sizes("maxpool_kernel_size")});
  g.output(clamp(x, g.real("clamp_min"), g.real("clamp_max")));
}

void subtract_subtract_mish(Graph& g) {
  auto x = image_conv(g) - g.real("subtract_value_1") - g.real("subtract_value_2");
  g.output(mish(x));
}

void group_norm_tanh_hardswish_residual_logsumexp(Graph& g) {
  auto x = image_conv(g);
  auto y = hardswish(tanh(group_norm(x, g.module("group_norm"), g["groups"])));
  g.output(logsumexp(x + y, {.axis = 1, .keepdim = true}));
}

}  // namespace

Tasks level2_image_convolutions() {
  return {
      {{2, 1},
       "Conv2D_ReLU_BiasAdd",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"bias_shape", Follows{"out_channels", 1, 1}}},
       relu_bias},
      {{2, 4},
       "Conv2d_Mish_Mish",
       "convolution",
       {{"batch_size", 2, 128, 64},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 256},
        {"width", 18, 32, 256},
        {"kernel_size", 3}},
       conv_mish_mish},
      {{2, 17},
       "Conv2d_InstanceNorm_Divide",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"divide_by", 2.0}},
       instance_norm_divide,
       {},
       {bias_before_norm("conv2d")}},
      {{2, 21},
       "Conv2d_Add_Scale_Sigmoid_GroupNorm",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 16, 16, 32},
        {"height", 14, 32, 256},
        {"width", 18, 32, 256},
        {"kernel_size", 3},
        {"num_groups", 8},
        {"bias_shape", Follows{"out_channels", 1, 1}},
        {"scale_shape", Follows{"out_channels", 1, 1}}},
       add_scale_sigmoid_group_norm,
       {3e-4,
        "statistics added up in one float, honest float32 is off by 1.5e-04, and what is rounded "
        "to fewer bits by 3.3e-04"}},
      {{2, 25},
       "Conv2d_Min_Tanh_Tanh",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 16},
        {"out_channels", 16, 16, 64},
        {"height", 14, 32, 256},
        {"width", 18, 32, 256},
        {"kernel_size", 3}},
       min_tanh_tanh,
       {5e-5,
        "honest float32 is off by 4e-07 at most, and what is rounded to fewer bits by 8e-05"}},
      {{2, 31},
       "Conv2d_Min_Add_Multiply",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"constant_value", 0.5},
        {"bias_shape", Follows{"out_channels", 1, 1}},
        {"scaling_factor", 2.0}},
       min_add_multiply},
      {{2, 32},
       "Conv2d_Scaling_Min",
       "convolution",
       {{"batch_size", 2, 128, 64},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 256},
        {"width", 18, 32, 256},
        {"kernel_size", 3},
        {"scale_factor", 2.0}},
       scaling_min},
      {{2, 35},
       "Conv2d_Subtract_HardSwish_MaxPool_Mish",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"subtract_value", 0.5},
        {"pool_kernel_size", 2}},
       subtract_hardswish_max_pool_mish},
      {{2, 46},
       "Conv2d_Subtract_Tanh_Subtract_AvgPool",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"subtract1_value", 0.5},
        {"subtract2_value", 0.2},
        {"kernel_size_pool", 2}},
       subtract_tanh_subtract_avg_pool},
      {{2, 52},
       "Conv2d_Activation_BatchNorm",
       "convolution",
       {{"batch_size", 2, 128, 64},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3}},
       activation_batch_norm},
      {{2, 54},
       "Conv2d_Multiply_LeakyReLU_GELU",
       "convolution",
       {{"batch_size", 2, 128, 64},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 64},
        {"height", 14, 32, 256},
        {"width", 18, 32, 256},
        {"kernel_size", 3},
        {"multiplier_shape", Follows{"out_channels", 1, 1}}},
       multiply_leaky_relu_gelu},
      {{2, 57},
       "Conv2d_ReLU_HardSwish",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 16, 16, 64},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3}},
       relu_hardswish},
      {{2, 65},
       "Conv2d_AvgPool_Sigmoid_Sum",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 16, 16, 64},
        {"height", 20, 32, 384},
        {"width", 24, 32, 384},
        {"kernel_size", 3},
        {"pool_kernel_size", 4, 2, 4}},
       avg_pool_sigmoid_sum},
      {{2, 67},
       "Conv2d_GELU_GlobalAvgPool",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 16, 16, 64},
        {"height", 14, 32, 256},
        {"width", 18, 32, 256},
        {"kernel_size", 3}},
       gelu_global_avg_pool},
      {{2, 69},
       "Conv2d_HardSwish_ReLU",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 16, 16, 64},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3}},
       hardswish_relu},
      {{2, 71},
       "Conv2d_Divide_LeakyReLU",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 16, 16, 64},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"divisor", 2}},
       divide_leaky_relu},
      {{2, 73},
       "Conv2d_BatchNorm_Scaling",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 16, 16, 64},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"scaling_factor", 2.0}},
       batch_norm_scaling,
       {},
       {bias_before_norm("conv2d")}},
      {{2, 82},
       "Conv2d_Tanh_Scaling_BiasAdd_Max",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 16, 16, 64},
        {"height", 14, 32, 256},
        {"width", 18, 32, 256},
        {"kernel_size", 3},
        {"scaling_factor", 2.0},
        {"bias_shape", Follows{"out_channels", 1, 1}},
        {"pool_kernel_size", 4, 2, 4}},
       tanh_scaling_bias_max_pool},
      {{2, 85},
       "Conv2d_GroupNorm_Scale_MaxPool_Clamp",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 32, 16, 64},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"num_groups", 16, 8, 16},
        {"scale_shape", Follows{"out_channels", 1, 1}},
        {"maxpool_kernel_size", 4, 2, 4},
        {"clamp_min", 0.0},
        {"clamp_max", 1.0}},
       group_norm_scale_max_pool_clamp},
      {{2, 87},
       "Conv2d_Subtract_Subtract_Mish",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 16, 16, 64},
        {"height", 14, 32, 256},
        {"width", 18, 32, 256},
        {"kernel_size", 3},
        {"subtract_value_1", 0.5},
        {"subtract_value_2", 0.2}},
       subtract_subtract_mish},
      {{2, 92},
       "Conv2d_GroupNorm_Tanh_HardSwish_ResidualAdd_LogSumExp",
       "convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 8},
        {"out_channels", 32, 16, 64},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"groups", 16, 8, 16}},
       group_norm_tanh_hardswish_residual_logsumexp,
       {3e-6,
        "honest float32 is off by 2e-07 at most, and what is rounded to fewer bits by 5e-06"}},
  };
}

}  // namespace kbench::levels
