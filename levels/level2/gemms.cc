// Level 2: a linear layer and elementwise operators or reductions.
#include <cmath>

#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/level2/inputs.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// The bias outweighs what is subtracted: relu then leaves a half, not the few largest.
void subtract_multiply_relu(Graph& g) {
  auto x =
      linear(rows(g), g.module("linear"), {.out = g["out_features"], .bias_drawn = uniform(1, 3)});
  x = x - g.real("subtract_value");
  g.output(relu(x * g.real("multiply_value")));
}

void multiply_leaky_relu(Graph& g) {
  auto x = linear_layer(g, "gemm") * g.real("multiplier");
  g.output(leaky_relu(x, g.real("negative_slope")));
}

void divide_sum_scaling(Graph& g) {
  auto x = rows(g, "input_size");
  const int64_t in = g["input_size"];
  auto weight = g.parameter("weight", {g["hidden_size"], in}, weight_init(in));
  auto y = matmul(x, weight, {.transpose_b = true}) / 2;
  g.output(sum(y, {.axis = 1, .keepdim = true}) * g.real("scaling_factor"));
}

void sum_max_mean_logsumexp_logsumexp(Graph& g) {
  const Reduce row{.axis = 1, .keepdim = true};
  auto x = mean(max(sum(linear_layer(g, "linear"), row), row), row);
  g.output(logsumexp(logsumexp(x, row), row));
}

/// The bias puts most logits at the lower bound and the largest near 0: the sum of exponentials is
/// that of a few, and where it ends mish bends. (Around 0 the sum of thousands is alike for all
/// inputs, and mish the identity.)
void scale_residual_clamp_logsumexp_mish(Graph& g) {
  auto x = linear(rows(g, "input_size"), g.module("matmul"),
                  {.out = g["hidden_size"], .bias_drawn = uniform(-3.9, -2.9)});
  x = x * g.real("scale_factor");
  x = clamp(x + x, g.real("clamp_min"), g.real("clamp_max"));
  x = logsumexp(x, {.axis = 1, .keepdim = true});
  g.output(x * mish(x));
}

void gemm_mish_mish(Graph& g) { g.output(mish(mish(linear_layer(g, "linear")))); }

void scaling_residual(Graph& g) {
  auto x = linear_layer(g, "matmul");
  g.output(x * g.real("scaling_factor") + x);
}

void sigmoid_linear_logsumexp(Graph& g) {
  auto x = sigmoid(linear_layer(g, "linear1", "input_size", "hidden_size"));
  g.output(logsumexp(linear(x, g.module("linear2"), {.out = g["output_size"]}), {.axis = 1}));
}

void subtract_mean_logsumexp_gelu_residual(Graph& g) {
  const Reduce row{.axis = 1, .keepdim = true};
  auto x = rows(g);
  auto y = linear(x, g.module("gemm"), {.out = g["out_features"]});
  y = y - g.parameter("subtract", {g["out_features"]}, uniform(-1, 1));
  g.output(gelu(logsumexp(mean(y, row), row)) + x);
}

/// Wide inputs: some reach the bounds of hardtanh.
void scaling_hardtanh_gelu(Graph& g) {
  auto x =
      linear(rows(g, "in_features", normal(0, 3)), g.module("gemm"), {.out = g["out_features"]});
  x = x * g.real("scaling_factor");
  g.output(gelu(hardtanh(x, g.real("hardtanh_min"), g.real("hardtanh_max"))));
}

void max_pool_sum_scale(Graph& g) {
  auto x = unsqueeze(linear_layer(g, "matmul"), 1);
  x = squeeze(max_pool1d(x, {.kernel = g.sizes("kernel_size")}), 1);
  g.output(sum(x, {.axis = 1}) * g.real("scale_factor"));
}

void sigmoid_sum(Graph& g) {
  auto x = sigmoid(linear_layer(g, "linear", "input_size", "hidden_size"));
  g.output(sum(x, {.axis = 1, .keepdim = true}));
}

void swish_scaling(Graph& g) {
  g.output(swish(linear_layer(g, "matmul")) * g.real("scaling_factor"));
}

void relu_divide(Graph& g) { g.output(relu(linear_layer(g, "linear")) / g.real("divisor")); }

/// Inputs so wide that each row's sum is that of its largest logits, and a bias that brings these
/// to both sides of 0, where what follows bends. (The largest of n normal numbers lies about sqrt(2
/// log n) - 0.6 deviations above their mean.)
void logsumexp_leaky_relu_gelu(Graph& g) {
  constexpr double kDeviation = 6;
  const double largest = std::sqrt(2 * std::log(static_cast<double>(g["out_features"]))) - 0.6;
  const double lift = std::round(kDeviation * largest * 100) / 100;
  auto x = linear(rows(g, "in_features", normal(0, kDeviation)), g.module("linear"),
                  {.out = g["out_features"], .bias_drawn = uniform(-lift - 0.5, -lift + 0.5)});
  x = logsumexp(x, {.axis = 1, .keepdim = true});
  g.output(gelu(gelu(leaky_relu(leaky_relu(x, 0.01), 0.01))));
}

/// Dropout at probability 0 is the identity.
void dropout_softmax(Graph& g) { g.output(softmax(linear_layer(g, "matmul"), 1)); }

void min_subtract(Graph& g) {
  auto x = linear_layer(g, "linear");
  auto constant = g.parameter("constant", {}, uniform(-1, 1));
  g.output(minimum(x, constant) - constant);
}

void sigmoid_scaling_residual(Graph& g) {
  auto x = linear_layer(g, "gemm", "input_size", "hidden_size");
  g.output(sigmoid(x) * g.real("scaling_factor") + x);
}

void add_relu(Graph& g) {
  auto x = linear(rows(g), g.module("gemm"), {.out = g["out_features"], .bias = false});
  g.output(relu(x + shaped_parameter(g, "bias", "bias_shape")));
}

void max_subtract_gelu(Graph& g) {
  auto x = linear_layer(g, "gemm");
  x = max(x, {.axis = static_cast<int>(g["max_dim"]), .keepdim = true});
  g.output(gelu(x - mean(x, {.axis = 1, .keepdim = true})));
}

void swish_divide_clamp_tanh_clamp(Graph& g) {
  auto x = clamp(swish(linear_layer(g, "gemm")) / 2, -1, 1);
  g.output(clamp(tanh(x), -1, 1));
}

void divide_gelu(Graph& g) {
  g.output(gelu(linear_layer(g, "linear", "input_size", "output_size") / g.real("divisor")));
}

void add_swish_tanh_gelu_hardtanh(Graph& g) {
  auto x = linear_layer(g, "matmul");
  x = x + shaped_parameter(g, "add_value", "add_value_shape", uniform(-1, 1));
  g.output(clamp(gelu(tanh(swish(x))), -1, 1));
}

void avg_pool_gelu_scale_max(Graph& g) {
  auto x = unsqueeze(linear_layer(g, "matmul"), 1);
  x = squeeze(avg_pool1d(x, {.kernel = g.sizes("pool_kernel_size")}), 1);
  g.output(max(gelu(x) * g.real("scale_factor"), {.axis = 1}));
}

void gelu_softmax(Graph& g) { g.output(softmax(gelu(linear_layer(g, "linear")), 1)); }

}  // namespace

Tasks level2_gemms() {
  return {
      {{2, 9},
       "Matmul_Subtract_Multiply_ReLU",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 10, 8192},
        {"out_features", 64, 5, 8192},
        {"subtract_value", 2.0},
        {"multiply_value", 1.5}},
       subtract_multiply_relu},
      {{2, 12},
       "Gemm_Multiply_LeakyReLU",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 1024, 8192},
        {"out_features", 64, 512, 8192},
        {"multiplier", 2.0},
        {"negative_slope", 0.1}},
       multiply_leaky_relu},
      {{2, 14},
       "Gemm_Divide_Sum_Scaling",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"input_size", 48, 10, 8192},
        {"hidden_size", 64, 20, 8192},
        {"scaling_factor", 1.5}},
       divide_sum_scaling},
      {{2, 18},
       "Matmul_Sum_Max_AvgPool_LogSumExp_LogSumExp",
       "gemm",
       {{"batch_size", 5, 128, 1024}, {"in_features", 48, 10, 8192}, {"out_features", 64, 5, 8192}},
       sum_max_mean_logsumexp_logsumexp,
       {},
       {{{"without max", "without mean", "without *logsumexp*"},
         "each is over one element, and log(exp(x)) = x"}}},
      {{2, 22},
       "Matmul_Scale_ResidualAdd_Clamp_LogSumExp_Mish",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"input_size", 48, 512, 8192},
        {"hidden_size", 64, 1024, 8192},
        {"scale_factor", 2.0},
        {"clamp_min", -10.0},
        {"clamp_max", 10.0}},
       scale_residual_clamp_logsumexp_mish,
       {1.6e-4,
        "added up in one float, honest float32 is off by 8e-05, and what is rounded to fewer bits "
        "by 1.7e-04"}},
      {{2, 29},
       "Matmul_Mish_Mish",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 10, 8192},
        {"out_features", 64, 20, 8192}},
       gemm_mish_mish},
      {{2, 40},
       "Matmul_Scaling_ResidualAdd",
       "gemm",
       {{"batch_size", 5, 128, 16384},
        {"in_features", 48, 64, 4096},
        {"out_features", 64, 128, 4096},
        {"scaling_factor", 0.5}},
       scaling_residual,
       {7e-5,
        "honest float32 is off by 9e-06 at most, and what is rounded to fewer bits by 0.0001"}},
      {{2, 45},
       "Gemm_Sigmoid_LogSumExp",
       "gemm",
       {{"batch_size", 5, 128, 16384},
        {"input_size", 48, 10, 2048},
        {"hidden_size", 64, 20, 4096},
        {"output_size", 40, 5, 1024}},
       sigmoid_linear_logsumexp},
      {{2, 51},
       "Gemm_Subtract_GlobalAvgPool_LogSumExp_GELU_ResidualAdd",
       "gemm",
       {{"batch_size", 5, 128, 2048},
        {"in_features", 48, 1024, 8192},
        {"out_features", 64, 512, 8192}},
       subtract_mean_logsumexp_gelu_residual,
       {3e-6, "honest float32 is off by 1e-07 at most, and what is rounded to fewer bits by 5e-06"},
       {identity("logsumexp", "over one element: log(exp(x)) = x")}},
      {{2, 53},
       "Gemm_Scaling_Hardtanh_GELU",
       "gemm",
       {{"batch_size", 5, 128, 2048},
        {"in_features", 48, 1024, 8192},
        {"out_features", 64, 512, 8192},
        {"scaling_factor", 0.5},
        {"hardtanh_min", -2},
        {"hardtanh_max", 2}},
       scaling_hardtanh_gelu},
      {{2, 55},
       "Matmul_MaxPool_Sum_Scale",
       "gemm",
       {{"batch_size", 5, 128, 128},
        {"in_features", 48, 10, 32768},
        {"out_features", 64, 5, 32768},
        {"kernel_size", 2},
        {"scale_factor", 0.5}},
       max_pool_sum_scale,
       {2e-5,
        "16384 terms added by atomicAdd are off by 8e-06; fewer bits are not told from it at "
        "v0.1"}},
      {{2, 56},
       "Matmul_Sigmoid_Sum",
       "gemm",
       {{"batch_size", 5, 128, 128}, {"input_size", 48, 10, 32768}, {"hidden_size", 64, 20, 32768}},
       sigmoid_sum},
      {{2, 59},
       "Matmul_Swish_Scaling",
       "gemm",
       {{"batch_size", 5, 128, 128},
        {"in_features", 48, 1024, 32768},
        {"out_features", 64, 512, 32768},
        {"scaling_factor", 2.0}},
       swish_scaling},
      {{2, 63},
       "Gemm_ReLU_Divide",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 1024, 8192},
        {"out_features", 64, 512, 8192},
        {"divisor", 2.0}},
       relu_divide},
      {{2, 64},
       "Gemm_LogSumExp_LeakyReLU_LeakyReLU_GELU_GELU",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 1024, 8192},
        {"out_features", 64, 512, 8192}},
       logsumexp_leaky_relu_gelu},
      {{2, 66},
       "Matmul_Dropout_Softmax",
       "gemm",
       {{"batch_size", 5, 128, 128},
        {"in_features", 48, 100, 16384},
        {"out_features", 64, 50, 16384},
        {"dropout_p", 0.2}},
       dropout_softmax},
      {{2, 68},
       "Matmul_Min_Subtract",
       "gemm",
       {{"batch_size", 5, 128, 128},
        {"in_features", 48, 10, 16384},
        {"out_features", 64, 5, 16384},
        {"constant", 2.0}},
       min_subtract},
      {{2, 70},
       "Gemm_Sigmoid_Scaling_ResidualAdd",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"input_size", 48, 1024, 8192},
        {"hidden_size", 64, 512, 8192},
        {"scaling_factor", 2.0}},
       sigmoid_scaling_residual},
      {{2, 76},
       "Gemm_Add_ReLU",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 1024, 8192},
        {"out_features", 64, 512, 8192},
        {"bias_shape", Follows{"out_features"}}},
       add_relu},
      {{2, 80},
       "Gemm_Max_Subtract_GELU",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 512, 8192},
        {"out_features", 64, 1024, 8192},
        {"max_dim", 1}},
       max_subtract_gelu,
       {},
       {},
       "max over a dimension leaves one column, whose mean over that dimension is itself: x - x = "
       "0, and gelu(0) = 0"},
      {{2, 81},
       "Gemm_Swish_Divide_Clamp_Tanh_Clamp",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 1024, 8192},
        {"out_features", 64, 512, 8192}},
       swish_divide_clamp_tanh_clamp,
       {},
       {identity("clamp (number 2 of 2)", "tanh lies within -1 and 1")}},
      {{2, 86},
       "Matmul_Divide_GELU",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"input_size", 48, 512, 8192},
        {"output_size", 40, 1024, 8192},
        {"divisor", 10.0}},
       divide_gelu},
      {{2, 95},
       "Matmul_Add_Swish_Tanh_GELU_Hardtanh",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 1024, 8192},
        {"out_features", 64, 512, 8192},
        {"add_value_shape", Follows{"out_features"}}},
       add_swish_tanh_gelu_hardtanh,
       {},
       {identity("clamp", "gelu of a number within -1 and 1 lies within -1 and 1")}},
      {{2, 98},
       "Matmul_AvgPool_GELU_Scale_Max",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 512, 8192},
        {"out_features", 64, 256, 8192},
        {"pool_kernel_size", 16, 4, 16},
        {"scale_factor", 2.0}},
       avg_pool_gelu_scale_max},
      {{2, 99},
       "Matmul_GELU_Softmax",
       "gemm",
       {{"batch_size", 5, 128, 1024},
        {"in_features", 48, 100, 8192},
        {"out_features", 64, 10, 8192}},
       gelu_softmax},
  };
}

}  // namespace kbench::levels
