// Level 2: a linear layer and what follows it.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

Value rows(Graph& g, const char* columns = "in_features") {
  return g.input("x", {g["batch_size"], g[columns]});
}

void gemm_multiply_leaky_relu(Graph& g) {
  auto y = linear(rows(g), g.module("gemm"), {.out = g["out_features"]});
  g.output(leaky_relu(y * g.real("multiplier"), g.real("negative_slope")));
}

void matmul_swish_scaling(Graph& g) {
  auto y = linear(rows(g), g.module("matmul"), {.out = g["out_features"]});
  g.output(y * sigmoid(y) * g.real("scaling_factor"));
}

void gemm_add_relu(Graph& g) {
  auto y = linear(rows(g), g.module("gemm"), {.out = g["out_features"], .bias = false});
  g.output(relu(y + g.parameter("bias", {g["out_features"]})));
}

void matmul_divide_gelu(Graph& g) {
  auto y = linear(rows(g, "input_size"), g.module("linear"), {.out = g["output_size"]});
  g.output(gelu(y / g.real("divisor")));
}

void matmul_gelu_softmax(Graph& g) {
  auto y = linear(rows(g), g.module("linear"), {.out = g["out_features"]});
  g.output(softmax(gelu(y), 1));
}

/// batch_size, in_features, out_features and the rest.
std::vector<VariableSpec> gemm(VariableSpec batch, VariableSpec in, VariableSpec out,
                               std::vector<VariableSpec> more = {}) {
  more.insert(more.begin(), {std::move(batch), std::move(in), std::move(out)});
  return more;
}

}  // namespace

Tasks level2_gemms() {
  using List = std::vector<int64_t>;
  const VariableSpec batch{"batch_size", 5, 128, 1024};
  const VariableSpec in{"in_features", 48, 1024, 8192}, out{"out_features", 64, 512, 8192};
  return {
      {{2, 12},
       "Gemm_Multiply_LeakyReLU",
       "gemm",
       gemm(batch, in, out, {{"multiplier", 2.0}, {"negative_slope", 0.1}}),
       gemm_multiply_leaky_relu},
      {{2, 59},
       "Matmul_Swish_Scaling",
       "gemm",
       gemm({"batch_size", 5, 128, 128}, {"in_features", 48, 1024, 32768},
            {"out_features", 64, 512, 32768}, {{"scaling_factor", 2.0}}),
       matmul_swish_scaling},
      {{2, 76},
       "Gemm_Add_ReLU",
       "gemm",
       gemm(batch, in, out, {{"bias_shape", List{64}, List{512}, List{8192}}}),
       gemm_add_relu},
      {{2, 86},
       "Matmul_Divide_GELU",
       "gemm",
       gemm(batch, {"input_size", 48, 512, 8192}, {"output_size", 40, 1024, 8192},
            {{"divisor", 10.0}}),
       matmul_divide_gelu},
      {{2, 99},
       "Matmul_GELU_Softmax",
       "gemm",
       gemm(batch, {"in_features", 48, 100, 8192}, {"out_features", 64, 10, 8192}),
       matmul_gelu_softmax},
  };
}

}  // namespace kbench::levels
