// Level 2: a 2-D transposed convolution and what follows it.
#include <cmath>

#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/level2/inputs.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

void bias_clamp_scaling_clamp_divide(Graph& g) {
  const double scale = g.real("scaling_factor");
  auto x = clamp(image_conv_transpose(g) + shaped_parameter(g, "bias", "bias_shape"), 0, 1);
  g.output(clamp(x * scale, 0, 1) / scale);
}

void subtract_tanh(Graph& g) {
  ConvTranspose conv = conv_options<ConvTranspose>(g);
  conv.stride = {2};
  conv.padding = conv.output_padding = {1};
  auto x = conv_transpose2d(image(g), g.module("conv_transpose"), conv);
  g.output(tanh(x - shaped_parameter(g, "bias", "bias_shape")));
}

void max_pool_hardtanh_mean_tanh(Graph& g) {
  auto x =
      max_pool2d(image_conv_transpose(g, distinct_means()),
                 {.kernel = g.sizes("maxpool_kernel_size"), .stride = g.sizes("maxpool_stride")});
  x = hardtanh(x, g.real("hardtanh_min"), g.real("hardtanh_max"));
  g.output(tanh(mean(x, 2, 3, true)));
}

void batch_norm_tanh_max_pool_group_norm(Graph& g) {
  auto x = tanh(batch_norm(image_conv_transpose(g), g.module("batch_norm")));
  x = max_pool2d(x, {.kernel = {2}});
  g.output(group_norm(x, g.module("group_norm"), g["num_groups"]));
}

void mish_add_hardtanh_scaling(Graph& g) {
  auto x = mish(image_conv_transpose(g)) + g.real("add_value");
  g.output(clamp(x, -1, 1) * g.real("scale"));
}

void gelu_group_norm(Graph& g) {
  auto x = gelu(image_conv_transpose(g));
  g.output(group_norm(x, g.module("group_norm"), g["num_groups"]));
}

/// The least of n normal numbers lies about sqrt(2 log n) - 0.6 deviations below their mean. The
/// bias of the convolution lifts it to 0, and images with means of their own put their sums on both
/// sides: far below, gelu would leave nothing.
void min_sum_gelu_add(Graph& g) {
  ConvTranspose conv = conv_options<ConvTranspose>(g);
  const double least = std::sqrt(2 * std::log(static_cast<double>(g["out_channels"]))) - 0.6;
  const double lift = std::round(1.4 * least * 100) / 100;
  conv.bias_drawn = uniform(lift - 0.5, lift + 0.5);
  auto x = conv_transpose2d(image(g, distinct_means()), g.module("conv_transpose"), conv);
  x = min(x, {.axis = 1, .keepdim = true});
  x = gelu(sum(x, {.axis = 2, .keepdim = true}));
  g.output(x + g.parameter("bias", g.list("bias_shape")));
}

void global_avg_pool_bias_logsumexp_sum_multiply(Graph& g) {
  auto x = mean(image_conv_transpose(g, distinct_means()), 2, 3, true);
  x = x + shaped_parameter(g, "bias", "bias_shape");
  x = sum(logsumexp(x, {.axis = 1, .keepdim = true}), 2, 3, false);
  g.output(x * 10);
}

void multiply_global_avg_pool_mean(Graph& g) {
  auto x = image_conv_transpose(g, distinct_means()) * g.real("multiplier");
  g.output(mean(mean(x, 2, 3, true), 2, 3, true));
}

void softmax_bias_scaling_sigmoid(Graph& g) {
  auto x = softmax(image_conv_transpose(g), 1) + shaped_parameter(g, "bias", "bias_shape");
  g.output(sigmoid(x * g.real("scaling_factor")));
}

void add_min_gelu_multiply(Graph& g) {
  auto x = clamp_max(image_conv_transpose(g) + g.real("add_value"), 0);
  g.output(gelu(x) * g.real("multiply_value"));
}

}  // namespace

Tasks level2_image_transposed_convolutions() {
  using List = std::vector<int64_t>;
  return {
      {{2, 2},
       "ConvTranspose2d_BiasAdd_Clamp_Scaling_Clamp_Divide",
       "transposed convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 64},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"output_padding", 1},
        {"bias_shape", Follows{"out_channels", 1, 1}},
        {"scaling_factor", 2.0}},
       bias_clamp_scaling_clamp_divide,
       {},
       {identity("clamp (number 1 of 2)",
                 "clamp(s clamp(x, 0, 1), 0, 1) = clamp(s x, 0, 1) for s >= 1")}},
      {{2, 5},
       "ConvTranspose2d_Subtract_Tanh",
       "transposed convolution",
       {{"batch_size", 2, 128, 32},
        {"in_channels", 8, 32, 64},
        {"out_channels", 16, 16, 64},
        {"height", 14, 16, 256},
        {"width", 18, 16, 256},
        {"kernel_size", 4},
        {"bias_shape", Follows{"out_channels", 1, 1}}},
       subtract_tanh},
      {{2, 10},
       "ConvTranspose2d_MaxPool_Hardtanh_Mean_Tanh",
       "transposed convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 32, 64},
        {"out_channels", 16, 64, 64},
        {"height", 14, 16, 256},
        {"width", 18, 16, 256},
        {"kernel_size", 3, 4, 3},
        {"stride", 1, 2, 1},
        {"padding", 1},
        {"maxpool_kernel_size", 2},
        {"maxpool_stride", 2},
        {"hardtanh_min", -1},
        {"hardtanh_max", 1}},
       max_pool_hardtanh_mean_tanh,
       {6e-6,
        "added up in one float, honest float32 is off by 2.5e-06; fewer bits are not told from it "
        "at v0.1"}},
      {{2, 11},
       "ConvTranspose2d_BatchNorm_Tanh_MaxPool_GroupNorm",
       "transposed convolution",
       {{"batch_size", 2, 128, 512},
        {"in_channels", 8, 32, 64},
        {"out_channels", 16, 64, 128},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 5, 4, 5},
        {"stride", 1, 2, 1},
        {"padding", 1},
        {"groups", 8},
        {"num_groups", 8, 4, 8}},
       batch_norm_tanh_max_pool_group_norm,
       {},
       {bias_before_norm("conv_transpose2d")}},
      {{2, 16},
       "ConvTranspose2d_Mish_Add_Hardtanh_Scaling",
       "transposed convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 32, 64},
        {"out_channels", 16, 64, 64},
        {"height", 14, 16, 128},
        {"width", 18, 16, 128},
        {"kernel_size", 3, 4, 3},
        {"stride", 2},
        {"padding", 1},
        {"output_padding", 1},
        {"add_value", 0.5},
        {"scale", 2}},
       mish_add_hardtanh_scaling},
      {{2, 19},
       "ConvTranspose2d_GELU_GroupNorm",
       "transposed convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 32, 64},
        {"out_channels", 16, 64, 64},
        {"height", 14, 32, 256},
        {"width", 18, 32, 256},
        {"kernel_size", 3, 4, 3},
        {"stride", 1, 2, 1},
        {"groups", 8},
        {"num_groups", 8}},
       gelu_group_norm},
      {{2, 36},
       "ConvTranspose2d_Min_Sum_GELU_Add",
       "transposed convolution",
       {{"batch_size", 2, 128, 16},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"output_padding", 1},
        {"bias_shape", List{1, 1, 1}, List{16, 1, 1}, List{1, 1, 1}}},
       min_sum_gelu_add,
       {3e-5,
        "honest float32 is off by 5e-07 at most, and what is rounded to fewer bits by 6e-05"}},
      {{2, 42},
       "ConvTranspose2d_GlobalAvgPool_BiasAdd_LogSumExp_Sum_Multiply",
       "transposed convolution",
       {{"batch_size", 2, 128, 16},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 512},
        {"width", 18, 32, 512},
        {"kernel_size", 3},
        {"bias_shape", Follows{"out_channels", 1, 1}}},
       global_avg_pool_bias_logsumexp_sum_multiply,
       {5e-5,
        "half of an image has the mean of the whole to 9e-5; honest float32 is off by 2e-6 at "
        "most"}},
      {{2, 44},
       "ConvTranspose2d_Multiply_GlobalAvgPool_GlobalAvgPool_Mean",
       "transposed convolution",
       {{"batch_size", 2, 128, 16},
        {"in_channels", 8, 3, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"output_padding", 1},
        {"multiplier", 0.5}},
       multiply_global_avg_pool_mean,
       {1.5e-5,
        "added up in one float, honest float32 is off by 7e-06; fewer bits are not told from it at "
        "v0.1"},
       {identity("mean (number 2 of 2)", "a mean over one element")}},
      {{2, 91},
       "ConvTranspose2d_Softmax_BiasAdd_Scaling_Sigmoid",
       "transposed convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 32, 64},
        {"out_channels", 16, 64, 128},
        {"height", 14, 16, 64},
        {"width", 18, 16, 64},
        {"kernel_size", 4},
        {"stride", 2},
        {"padding", 1},
        {"output_padding", 1},
        {"bias_shape", Follows{"out_channels", 1, 1}},
        {"scaling_factor", 2.0}},
       softmax_bias_scaling_sigmoid,
       {5e-5,
        "honest float32 is off by 6e-07 at most, and what is rounded to fewer bits by 8e-05"}},
      {{2, 93},
       "ConvTranspose2d_Add_Min_GELU_Multiply",
       "transposed convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 32, 64},
        {"out_channels", 16, 16, 128},
        {"height", 14, 32, 64},
        {"width", 18, 32, 64},
        {"kernel_size", 4},
        {"stride", 2},
        {"add_value", 0.5},
        {"multiply_value", 2.0}},
       add_min_gelu_multiply},
  };
}

}  // namespace kbench::levels
