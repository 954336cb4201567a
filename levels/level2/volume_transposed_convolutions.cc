// Level 2: a 3-D transposed convolution and what follows it.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/level2/inputs.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

void sum_layer_norm_avg_pool_gelu(Graph& g) {
  auto x = volume_conv_transpose(g) + g.parameter("sum_weight", {}, uniform(-1, 1));
  x = avg_pool3d(layer_norm_of(x, g.module("norm"), followed_list(g, "norm_shape")),
                 {.kernel = g.sizes("pool_kernel_size")});
  g.output(gelu(x));
}

void mean_add_softmax_tanh_scaling(Graph& g) {
  auto x = mean(volume_conv_transpose(g), {.axis = 2, .keepdim = true});
  x = softmax(x + g.parameter("bias", {1, g["out_channels"], 1, 1, 1}), 1);
  g.output(tanh(x) * g.real("scaling_factor"));
}

void batch_norm_subtract(Graph& g) {
  auto x = batch_norm(volume_conv_transpose(g), g.module("batch_norm"));
  g.output(x - mean(x, 2, 4, true));
}

void sum_residual_multiply_residual(Graph& g) {
  auto x = volume_conv_transpose(g);
  auto y = x + shaped_parameter(g, "bias", "bias_shape") + x;
  g.output(y * x + x);
}

/// The original declares a bias and never uses it.
void add_hardswish(Graph& g) {
  auto x = volume_conv_transpose(g);
  const int64_t stride = g["stride"];
  x = x + g.input("add_input", {g["batch_size"], g["out_channels"], g["D"] * stride,
                                g["H"] * stride, g["W"] * stride});
  shaped_parameter(g, "bias", "bias_shape");
  g.output(x * hardswish(x));
}

void layer_norm_gelu_scaling(Graph& g) {
  ConvTranspose conv = conv_options<ConvTranspose>(g);
  conv.bias = g["bias"] != 0;
  auto x = conv_transpose3d(volume(g), g.module("conv_transpose"), conv);
  x = layer_norm_of(x, g.module("layer_norm"), {g["out_channels"]}, {.eps = g.real("eps")});
  g.output(gelu(x) * g.real("scaling_factor"));
}

void avg_pool_clamp_softmax_multiply(Graph& g) {
  auto x = avg_pool3d(volume(g), {.kernel = g.sizes("pool_kernel_size")});
  x = conv_transpose3d(x, g.module("conv_transpose"), conv_options<ConvTranspose>(g));
  x = clamp(x, g.real("clamp_min"), g.real("clamp_max"));
  auto y = reshape(softmax(flatten(x, 2), 2), x.shape());
  g.output(y * g.parameter("scale", {1, g["out_channels"], 1, 1, 1}, uniform(-1, 1)));
}

void softmax_sigmoid(Graph& g) { g.output(sigmoid(softmax(volume_conv_transpose(g), 1))); }

void scaling_avg_pool_bias_scaling(Graph& g) {
  auto x = volume_conv_transpose(g) * g.parameter("scale1", {}, uniform(-1, 1));
  x = avg_pool3d(x, {.kernel = {2}}) + shaped_parameter(g, "bias", "bias_shape");
  g.output(x * g.parameter("scale2", {}, uniform(-1, 1)));
}

/// A high bias and volumes with means of their own: some results reach the bound of 1.
void logsumexp_hardswish_subtract_clamp(Graph& g) {
  ConvTranspose conv = conv_options<ConvTranspose>(g);
  conv.bias_drawn = uniform(0, 3);
  auto x = conv_transpose3d(volume(g, distinct_means()), g.module("conv_transpose"), conv);
  x = logsumexp(x, {.axis = 1, .keepdim = true});
  x = x * sigmoid(x + 3) / 6;
  g.output(clamp(x - g.parameter("bias", {1, 1, 1, 1}), -1, 1));
}

void swish_group_norm_hardswish(Graph& g) {
  auto x = swish(volume_conv_transpose(g));
  g.output(hardswish(group_norm(x, g.module("group_norm"), g["groups"], {.eps = g.real("eps")})));
}

void relu_group_norm(Graph& g) {
  ConvTranspose conv = conv_options<ConvTranspose>(g);
  conv.bias = g["bias"] != 0;
  auto x = relu(conv_transpose3d(volume(g), g.module("conv_transpose"), conv));
  g.output(group_norm(x, g.module("group_norm"), g["groups"]));
}

void batch_norm_avg_pool_avg_pool(Graph& g) {
  auto x = batch_norm(volume_conv_transpose(g), g.module("batch_norm"));
  g.output(avg_pool3d(avg_pool3d(x, {.kernel = {2}}), {.kernel = {2}}));
}

void leaky_relu_multiply_leaky_relu_max(Graph& g) {
  auto x = leaky_relu(volume_conv_transpose(g), 0.2);
  x = leaky_relu(x * shaped_parameter(g, "multiplier", "multiplier_shape", uniform(-1, 1)), 0.2);
  g.output(max_pool3d(x, {.kernel = {2}}));
}

/// Volumes so small that the norm's eps counts, and with it the scale before the norm; with means
/// of their own, so that what is left of them after the norm and the mean is not 0.
void scale_batch_norm_global_avg_pool(Graph& g) {
  ConvTranspose conv = conv_options<ConvTranspose>(g);
  conv.bias_drawn = uniform(-0.005, 0.005);
  auto x = conv_transpose3d(volume(g, offset(normal(0, 0.01))), g.module("conv_transpose"), conv);
  x = x * g.real("scale_factor");
  g.output(global_avg_pool(batch_norm(x, g.module("batch_norm"))));
}

void max_max_sum(Graph& g) {
  auto x = max_pool3d(max_pool3d(volume_conv_transpose(g), {.kernel = {2}}), {.kernel = {3}});
  g.output(sum(x, {.axis = 1, .keepdim = true}));
}

void max_pool_softmax_subtract_swish_max(Graph& g) {
  auto x = max_pool3d(volume_conv_transpose(g), {.kernel = g.sizes("pool_kernel_size"),
                                                 .stride = g.sizes("pool_stride"),
                                                 .padding = g.sizes("pool_padding")});
  auto subtract = g.parameter("subtract", {g["out_channels"]}, uniform(-1, 1));
  x = softmax(x, 1) - reshape(subtract, {1, -1, 1, 1, 1});
  g.output(max(swish(x), {.axis = 1}));
}

void multiply_max_global_avg_pool_clamp(Graph& g) {
  auto x = volume_conv_transpose(g, distinct_means()) * g.real("scale");
  x = global_avg_pool(max_pool3d(x, {.kernel = g.sizes("maxpool_kernel_size")}));
  g.output(clamp(x, 0, 1));
}

void clamp_divide(Graph& g) {
  g.output(clamp_min(volume_conv_transpose(g), g.real("min_value")) / g.real("divisor"));
}

}  // namespace

Tasks level2_volume_transposed_convolutions() {
  using List = std::vector<int64_t>;
  return {
      {{2, 3},
       "ConvTranspose3d_Sum_LayerNorm_AvgPool_GELU",
       "transposed convolution",
       {{"batch_size", 2, 128, 32},
        {"in_channels", 6, 32, 32},
        {"out_channels", 64},
        {"depth", 4, 16, 16},
        {"height", 5, 32, 32},
        {"width", 32},
        {"kernel_size", List{3, 3, 3}},
        {"stride", List{2, 2, 2}},
        {"padding", List{1, 1, 1}},
        {"output_padding", List{1, 1, 1}},
        {"sum_weight", 1.0},
        {"norm_shape", Follows{"out_channels"}},
        {"pool_kernel_size", List{2, 2, 2}}},
       sum_layer_norm_avg_pool_gelu,
       {},
       {bias_before_norm("conv_transpose3d"),
        identity("add",
                 "one number added to all elements, and a layer norm takes their mean away")}},
      {{2, 13},
       "ConvTranspose3d_Mean_Add_Softmax_Tanh_Scaling",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 8, 16},
        {"out_channels", 16, 16, 64},
        {"depth", 6, 16, 32},
        {"height", 14, 32, 128},
        {"width", 18, 32, 128},
        {"kernel_size", 3},
        {"stride", 1, 2, 1},
        {"padding", 1},
        {"scaling_factor", 2.0}},
       mean_add_softmax_tanh_scaling},
      {{2, 15},
       "ConvTranspose3d_BatchNorm_Subtract",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 16, 16},
        {"out_channels", 16, 32, 32},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1}},
       batch_norm_subtract,
       {},
       {bias_before_norm("conv_transpose3d"),
        {{"without the bias of batch_norm"},
         "the mean over depth, height and width is subtracted, and the bias, the same for a whole "
         "channel, with it"}}},
      {{2, 20},
       "ConvTranspose3d_Sum_ResidualAdd_Multiply_ResidualAdd",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16, 64, 64},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"output_padding", 1},
        {"bias_shape", Follows{"out_channels", 1, 1, 1}}},
       sum_residual_multiply_residual},
      {{2, 26},
       "ConvTranspose3d_Add_HardSwish",
       "transposed convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16, 64, 64},
        {"D", 6, 16, 16},
        {"H", 10, 16, 16},
        {"W", 12, 16, 16},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"output_padding", 1},
        {"bias_shape", Follows{"out_channels", 1, 1, 1, 1}}},
       add_hardswish,
       {},
       {{{"parameter bias"}, "the original never uses it for what it returns"}}},
      {{2, 34},
       "ConvTranspose3d_LayerNorm_GELU_Scaling",
       "transposed convolution",
       {{"batch_size", 2, 128, 32},
        {"in_channels", 6, 32, 32},
        {"out_channels", 64},
        {"D", 3, 16, 16},
        {"H", 4, 32, 32},
        {"W", 32},
        {"kernel_size", 4},
        {"stride", 2},
        {"padding", 1},
        {"bias", 1},
        {"eps", 1e-05},
        {"scaling_factor", 1.0}},
       layer_norm_gelu_scaling,
       {},
       {bias_before_norm("conv_transpose3d"), identity("mul_scalar", "scaling_factor is 1")}},
      {{2, 38},
       "ConvTranspose3d_AvgPool_Clamp_Softmax_Multiply",
       "transposed convolution",
       {{"batch_size", 2, 16, 32},
        {"in_channels", 8, 8, 32},
        {"out_channels", 16, 16, 64},
        {"depth", 6, 16, 32},
        {"height", 14, 32, 64},
        {"width", 18, 32, 64},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"output_padding", 1},
        {"pool_kernel_size", 2},
        {"clamp_min", 0.0},
        {"clamp_max", 1.0}},
       avg_pool_clamp_softmax_multiply,
       {2e-3,
        "added up in one float, honest float32 is off by 9e-04: equal terms, which the clamp "
        "makes, "
        "round alike"}},
      {{2, 49},
       "ConvTranspose3d_Softmax_Sigmoid",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16, 64, 64},
        {"D", 6, 16, 16},
        {"H", 10, 32, 32},
        {"W", 12, 32, 32},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"output_padding", 1}},
       softmax_sigmoid,
       {3e-5,
        "honest float32 is off by 4e-07 at most, and what is rounded to fewer bits by 5e-05"}},
      {{2, 50},
       "ConvTranspose3d_Scaling_AvgPool_BiasAdd_Scaling",
       "transposed convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 3},
        {"out_channels", 16},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"scale1", 0.5},
        {"scale2", 1.0},
        {"bias_shape", Follows{"out_channels", 1, 1, 1}}},
       scaling_avg_pool_bias_scaling},
      {{2, 58},
       "ConvTranspose3d_LogSumExp_HardSwish_Subtract_Clamp",
       "transposed convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 3},
        {"out_channels", 16},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"bias_shape", List{1, 1, 1, 1}, List{16, 1, 1, 1}, List{1, 1, 1, 1}}},
       logsumexp_hardswish_subtract_clamp,
       {1e-6,
        "honest float32 is off by 3e-07 at most, and what is rounded to fewer bits by 1.4e-06"}},
      {{2, 60},
       "ConvTranspose3d_Swish_GroupNorm_HardSwish",
       "transposed convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 3},
        {"out_channels", 16},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"groups", 4},
        {"eps", 1e-05}},
       swish_group_norm_hardswish},
      {{2, 61},
       "ConvTranspose3d_ReLU_GroupNorm",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 64, 64},
        {"out_channels", 16, 128, 128},
        {"D", 6, 8, 32},
        {"H", 10, 16, 32},
        {"W", 12, 16, 32},
        {"kernel_size", 3},
        {"groups", 8},
        {"bias", 0}},
       relu_group_norm,
       {3.5e-4,
        "added up in one float, honest float32 is off by 1.6e-04: a norm over a few values that "
        "relu has left"}},
      {{2, 72},
       "ConvTranspose3d_BatchNorm_AvgPool_AvgPool",
       "transposed convolution",
       {{"batch_size", 2, 128, 64},
        {"in_channels", 3},
        {"out_channels", 16},
        {"depth", 6, 32, 32},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"bias_shape", List{16, 1, 1, 1}}},
       batch_norm_avg_pool_avg_pool,
       {},
       {bias_before_norm("conv_transpose3d")}},
      {{2, 74},
       "ConvTranspose3d_LeakyReLU_Multiply_LeakyReLU_Max",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 16, 16},
        {"out_channels", 16, 32, 32},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"output_padding", 1},
        {"multiplier_shape", Follows{"out_channels", 1, 1, 1}}},
       leaky_relu_multiply_leaky_relu_max},
      {{2, 77},
       "ConvTranspose3d_Scale_BatchNorm_GlobalAvgPool",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 64, 64},
        {"out_channels", 16, 32, 128},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 5, 3, 5},
        {"scale_factor", 2.0}},
       scale_batch_norm_global_avg_pool,
       {1.5e-4,
        "added up in one float, honest float32 is off by 5e-05: a mean of normalised values, which "
        "cancel"},
       {bias_before_norm("conv_transpose3d")}},
      {{2, 78},
       "ConvTranspose3d_Max_Max_Sum",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 8, 32},
        {"out_channels", 16, 16, 64},
        {"depth", 6, 16, 32},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 5, 3, 5},
        {"stride", 2},
        {"padding", 2, 1, 2}},
       max_max_sum,
       {3e-5,
        "honest float32 is off by 3e-07 at most, and what is rounded to fewer bits by 4e-05"}},
      {{2, 89},
       "ConvTranspose3d_MaxPool_Softmax_Subtract_Swish_Max",
       "transposed convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 3},
        {"out_channels", 16},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"output_padding", 1},
        {"pool_kernel_size", 2},
        {"pool_stride", 2},
        {"pool_padding", 0}},
       max_pool_softmax_subtract_swish_max},
      {{2, 96},
       "ConvTranspose3d_Multiply_Max_GlobalAvgPool_Clamp",
       "transposed convolution",
       {{"batch_size", 2, 128, 128},
        {"in_channels", 3},
        {"out_channels", 16},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"scale", 0.5},
        {"maxpool_kernel_size", 2}},
       multiply_max_global_avg_pool_clamp,
       {1e-5, "added up in one float, honest float32 is off by 4e-06"}},
      {{2, 100},
       "ConvTranspose3d_Clamp_Min_Divide",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 32, 64},
        {"out_channels", 16, 16, 128},
        {"depth", 6, 16, 24},
        {"height", 14, 32, 48},
        {"width", 18, 32, 48},
        {"kernel_size", 3},
        {"stride", 2},
        {"padding", 1},
        {"min_value", -1.0},
        {"divisor", 2.0}},
       clamp_divide},
  };
}

}  // namespace kbench::levels
