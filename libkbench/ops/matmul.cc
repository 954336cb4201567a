// Matrix products.
#include <algorithm>
#include <cmath>

#include "kbench/ops.h"
#include "libkbench/ops/families.h"

namespace kbench {
namespace {

struct MatmulShape {
  Shape batch;
  int64_t m, n, k;
};

MatmulShape matmul_shape(const OperatorCall& call) {
  const Shape& a = call.inputs[0].shape;
  const Shape& b = call.inputs[1].shape;
  require_float(call, 0);
  require_float(call, 1);
  require_shape(a.size() >= 2 && b.size() >= 2, "both inputs need at least two dimensions");
  const bool ta = call.attributes.flag("transpose_a"), tb = call.attributes.flag("transpose_b");
  const int64_t m = a[a.size() - (ta ? 1 : 2)], ka = a[a.size() - (ta ? 2 : 1)];
  const int64_t kb = b[b.size() - (tb ? 1 : 2)], n = b[b.size() - (tb ? 2 : 1)];
  require_shape(ka == kb,
                "inner extents differ: " + std::to_string(ka) + " and " + std::to_string(kb));
  Shape batch(std::max(a.size(), b.size()) - 2);
  for (size_t i = 0; i < batch.size(); ++i) {
    const int64_t x = i + 2 < a.size() ? a[a.size() - 3 - i] : 1;
    const int64_t y = i + 2 < b.size() ? b[b.size() - 3 - i] : 1;
    require_shape(x == y || x == 1 || y == 1, "leading dimensions do not broadcast");
    batch[batch.size() - 1 - i] = std::max(x, y);
  }
  return {batch, m, n, ka};
}

std::vector<TensorType> matmul_type(const OperatorCall& call) {
  MatmulShape s = matmul_shape(call);
  s.batch.push_back(s.m);
  s.batch.push_back(s.n);
  return {{DType::f32, s.batch}};
}

double matmul_flops(const OperatorCall& call) {
  return 2.0 * output_elements(call) * static_cast<double>(matmul_shape(call).k);
}

std::vector<TensorType> linear_type(const OperatorCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) require_float(call, i);
  Shape shape = call.inputs[0].shape;
  const Shape& weight = call.inputs[1].shape;
  require_shape(!shape.empty(), "the input needs at least one dimension");
  require_shape(weight.size() == 2 && weight[1] == shape.back(),
                "the weight must be [out, " + std::to_string(shape.back()) + "]");
  require_shape(call.inputs.size() < 3 || call.inputs[2].shape == Shape{weight[0]},
                "the bias must be [" + std::to_string(weight[0]) + "]");
  shape.back() = weight[0];
  return {{DType::f32, shape}};
}

double linear_flops(const OperatorCall& call) {
  const double k = static_cast<double>(call.inputs[1].shape[1]);
  return output_elements(call) * (2.0 * k + (call.inputs.size() > 2 ? 1 : 0));
}

}  // namespace

const std::vector<Operator>& matmul_operators() {
  static const std::vector<Operator> operators = {
      {.name = "matmul",
       .formula = "c[..., i, j] = sum over k of a[..., i, k] * b[..., k, j]; where transpose_a or "
                  "transpose_b is 1, the last two dimensions of a or b are swapped first; leading "
                  "dimensions broadcast",
       .shapes = "a [..., M, K], b [..., K, N] -> [..., M, N]",
       .follows = "torch.matmul(a, b)",
       .min_inputs = 2,
       .max_inputs = 2,
       .attributes = {{"transpose_a", int64_t{0}}, {"transpose_b", int64_t{0}}},
       .infer = matmul_type,
       .flops = matmul_flops},
      {.name = "linear",
       .formula =
           "y[..., j] = bias[j] + sum over k of x[..., k] * weight[j, k]; a call may have no bias",
       .shapes = "x [..., K], weight [N, K], bias [N] -> [..., N]",
       .follows = "torch.nn.functional.linear(x, weight, bias)",
       .min_inputs = 2,
       .max_inputs = 3,
       .attributes = {},
       .infer = linear_type,
       .flops = linear_flops},
  };
  return operators;
}

Distribution weight_init(int64_t fan_in) {
  const double bound = std::round(std::sqrt(3.0 / static_cast<double>(fan_in)) * 1e6) / 1e6;
  return uniform(-bound, bound);
}

Value matmul(Value a, Value b, Matmul options) {
  return call_operator("matmul", {a, b},
                       {{"transpose_a", int64_t{options.transpose_a}},
                        {"transpose_b", int64_t{options.transpose_b}}});
}

Value linear(Value x, const Module& module, Linear options) {
  const int64_t in = dim_for("linear", x, -1);
  std::vector<Value> inputs = {x, module.parameter("weight", {options.out, in}, weight_init(in))};
  if (options.bias) inputs.push_back(module.parameter("bias", {options.out}, options.bias_drawn));
  return call_operator("linear", inputs);
}

Value linear(Value x, Value weight, Value bias) {
  return call_operator("linear", {x, weight, bias});
}

Value scaled_dot_product_attention(Value q, Value k, Value v) {
  const Value scores = matmul(q, k, {.transpose_b = true});
  return matmul(softmax(scores * (1.0 / std::sqrt(static_cast<double>(q.dim(-1)))), -1), v);
}

}  // namespace kbench
