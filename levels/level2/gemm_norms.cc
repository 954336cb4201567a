// Level 2: a linear layer and a normalisation.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/level2/inputs.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// The rows as images of one row and one channel, normalised each on its own.
void instance_norm_add_multiply(Graph& g) {
  auto x = rows(g);
  auto y = g.input("y", {g["batch_size"], g["out_features"]});
  x = linear(x, g.module("bmm"), {.out = g["out_features"]});
  x = instance_norm(unsqueeze(unsqueeze(x, 1), 1), g.module("instance_norm"));
  g.output((squeeze(squeeze(x, 1), 1) + y) * y);
}

void group_norm_hardtanh(Graph& g) {
  auto x = group_norm(linear_layer(g, "gemm"), g.module("group_norm"), g["num_groups"]);
  g.output(hardtanh(x, g.real("hardtanh_min"), g.real("hardtanh_max")));
}

void scale_batch_norm(Graph& g) {
  auto x = linear_layer(g, "gemm");
  x = x * shaped_parameter(g, "scale", "scale_shape", uniform(-1, 1));
  g.output(batch_norm(x, g.module("bn")));
}

void swish_bias_group_norm(Graph& g) {
  auto x = swish(linear_layer(g, "matmul")) + shaped_parameter(g, "bias", "bias_shape");
  g.output(group_norm(x, g.module("group_norm"), g["num_groups"]));
}

void batch_norm_gelu_relu(Graph& g) {
  g.output(relu(gelu(batch_norm(linear_layer(g, "gemm"), g.module("batch_norm")))));
}

void group_norm_leaky_relu_sum(Graph& g) {
  auto x = linear_layer(g, "fc", "input_size", "hidden_size");
  x = leaky_relu(group_norm(x, g.module("gn"), g["num_groups"]), 0.01);
  g.output(x + x);
}

/// The bias has four dimensions, so the sum has too.
void group_norm_min_bias(Graph& g) {
  auto x = group_norm(linear_layer(g, "gemm"), g.module("group_norm"), g["num_groups"]);
  x = min(x, {.axis = 1, .keepdim = true});
  g.output(x + shaped_parameter(g, "bias", "bias_shape"));
}

void batch_norm_scale_softmax(Graph& g) {
  auto x = batch_norm(linear_layer(g, "gemm"), g.module("bn"), {.eps = g.real("bn_eps")});
  g.output(softmax(shaped_parameter(g, "scale", "scale_shape", uniform(-1, 1)) * x, 1));
}

void group_norm_swish_multiply_swish(Graph& g) {
  auto x = group_norm(linear_layer(g, "gemm"), g.module("group_norm"), g["num_groups"]);
  x = swish(x) * shaped_parameter(g, "multiply_weight", "multiply_weight_shape", uniform(-1, 1));
  g.output(swish(x));
}

void bias_hardtanh_mish_group_norm(Graph& g) {
  auto x = linear_layer(g, "gemm") + shaped_parameter(g, "bias", "bias_shape");
  g.output(group_norm(mish(clamp(x, -1, 1)), g.module("groupnorm"), g["num_groups"]));
}

void batch_norm_bias_divide_swish(Graph& g) {
  auto x = batch_norm(linear_layer(g, "matmul"), g.module("bn"), {.eps = g.real("bn_eps")});
  g.output(swish((x + shaped_parameter(g, "bias", "bias_shape")) / g.real("divide_value")));
}

}  // namespace

Tasks level2_gemm_norms() {
  using List = std::vector<int64_t>;
  return {
      {{2, 28},
       "BMM_InstanceNorm_Sum_ResidualAdd_Multiply",
       "gemm norm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 64, 8192},
        {"out_features", 48, 128, 8192}},
       instance_norm_add_multiply},
      {{2, 30},
       "Gemm_GroupNorm_Hardtanh",
       "gemm norm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 1024, 8192},
        {"out_features", 64, 512, 8192},
        {"num_groups", 8, 8, 16},
        {"hardtanh_min", -2.0},
        {"hardtanh_max", 2.0}},
       group_norm_hardtanh},
      {{2, 33},
       "Gemm_Scale_BatchNorm",
       "gemm norm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 1024, 8192},
        {"out_features", 64, 512, 8192},
        {"scale_shape", Follows{"out_features"}}},
       scale_batch_norm,
       {},
       {bias_before_norm("linear")}},
      {{2, 37},
       "Matmul_Swish_Sum_GroupNorm",
       "gemm norm",
       {{"batch_size", 5, 128, 32768},
        {"in_features", 48, 512, 1024},
        {"out_features", 64, 1024, 4096},
        {"num_groups", 8, 32, 64},
        {"bias_shape", Follows{"out_features"}}},
       swish_bias_group_norm},
      {{2, 39},
       "Gemm_Scale_BatchNorm",
       "gemm norm",
       {{"batch_size", 5, 128, 16384},
        {"in_features", 48, 1024, 4096},
        {"out_features", 64, 512, 4096},
        {"scale_shape", Follows{"out_features"}}},
       scale_batch_norm,
       {},
       {bias_before_norm("linear")}},
      {{2, 41},
       "Gemm_BatchNorm_GELU_ReLU",
       "gemm norm",
       {{"batch_size", 5, 128, 16384},
        {"in_features", 48, 512, 4096},
        {"out_features", 64, 1024, 4096}},
       batch_norm_gelu_relu,
       {},
       {bias_before_norm("linear")}},
      {{2, 62},
       "Matmul_GroupNorm_LeakyReLU_Sum",
       "gemm norm",
       {{"batch_size", 5, 128, 1024},
        {"input_size", 48, 512, 8192},
        {"hidden_size", 64, 256, 8192},
        {"num_groups", 8, 8, 512}},
       group_norm_leaky_relu_sum},
      {{2, 75},
       "Gemm_GroupNorm_Min_BiasAdd",
       "gemm norm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 512, 8192},
        {"out_features", 64, 256, 8192},
        {"num_groups", 8, 8, 512},
        {"bias_shape", Follows{1, "out_features", 1, 1}}},
       group_norm_min_bias,
       {5e-5,
        "honest float32 is off by 2e-06 at most, and what is rounded to fewer bits by 9e-05"}},
      {{2, 84},
       "Gemm_BatchNorm_Scaling_Softmax",
       "gemm norm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 1024, 8192},
        {"out_features", 64, 512, 8192},
        {"bn_eps", 1e-05},
        {"bn_momentum", 0.1},
        {"scale_shape", List{1}}},
       batch_norm_scale_softmax,
       {},
       {bias_before_norm("linear")}},
      {{2, 88},
       "Gemm_GroupNorm_Swish_Multiply_Swish",
       "gemm norm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 512, 8192},
        {"out_features", 64, 1024, 8192},
        {"num_groups", 8, 16, 256},
        {"multiply_weight_shape", Follows{"out_features"}}},
       group_norm_swish_multiply_swish},
      {{2, 94},
       "Gemm_BiasAdd_Hardtanh_Mish_GroupNorm",
       "gemm norm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 512, 8192},
        {"out_features", 64, 1024, 8192},
        {"bias_shape", Follows{"out_features"}},
        {"num_groups", 8, 32, 256}},
       bias_hardtanh_mish_group_norm},
      {{2, 97},
       "Matmul_BatchNorm_BiasAdd_Divide_Swish",
       "gemm norm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 1024, 8192},
        {"out_features", 64, 512, 8192},
        {"bn_eps", 1e-05},
        {"bn_momentum", 0.1},
        {"bias_shape", List{1}},
        {"divide_value", 1.0}},
       batch_norm_bias_divide_swish,
       {},
       {bias_before_norm("linear"), identity("div_scalar", "divide_value is 1")}},
  };
}

}  // namespace kbench::levels
