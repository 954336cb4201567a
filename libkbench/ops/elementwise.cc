// Elementwise operators. Each output element depends on the input elements at its own position.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kbench/error.h"
#include "kbench/ops.h"
#include "libkbench/ops/families.h"

namespace kbench {
namespace {

std::vector<TensorType> same_type(const OperatorCall& call) {
  require_float(call, 0);
  return {call.inputs[0]};
}

/// NumPy's rule: shapes aligned at the right, extents equal or 1.
Shape broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    require_shape(x == y || x == 1 || y == 1,
                  "shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast");
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

std::vector<TensorType> broadcast_type(const OperatorCall& call) {
  require_float(call, 0);
  require_float(call, 1);
  return {{DType::f32, broadcast(call.inputs[0].shape, call.inputs[1].shape)}};
}

std::vector<TensorType> mask_type(const OperatorCall& call) {
  require_float(call, 0);
  require_shape(call.inputs[1] == TensorType{DType::boolean, call.inputs[0].shape},
                "the mask must be bool " + to_string(call.inputs[0].shape));
  return {call.inputs[0]};
}

std::vector<TensorType> cast_type(const OperatorCall& call) {
  try {
    return {{dtype_from_name(call.attributes.word("dtype")), call.inputs[0].shape}};
  } catch (const Error& error) {
    throw Error(ErrorCode::kShape, error.message());
  }
}

Operator unary(std::string name, std::string formula, std::string follows) {
  return {.name = std::move(name),
          .formula = std::move(formula),
          .follows = std::move(follows),
          .attributes = {},
          .infer = same_type,
          .flops = flops_per_output<1>};
}

Operator unary(std::string name, std::string formula, std::string follows,
               AttributeSpec attribute) {
  Operator op = unary(std::move(name), std::move(formula), std::move(follows));
  op.attributes = {std::move(attribute)};
  return op;
}

Operator clamp_operator() {
  Operator op = unary("clamp", "min(max(x, lo), hi); NaN stays NaN", "torch.clamp(x, lo, hi)");
  op.attributes = {{"lo", 0.0, true}, {"hi", 0.0, true}};
  return op;
}

std::vector<TensorType> rounded_type(const OperatorCall& call) {
  require_float(call, 0);
  const std::string& format = call.attributes.word("format");
  require_shape(
      format == "float16" || format == "bfloat16" || format == "tf32" || format == "float8_e4m3",
      "there is no format '" + format + "', only float16, bfloat16, tf32 and float8_e4m3");
  return {call.inputs[0]};
}

/// Used by shortcuts of precision (harness/measure/audit); no task has it.
Operator round_to_operator() {
  Operator op =
      unary("round_to",
            "x rounded to the nearest value of a format of fewer bits, ties to even: float16 (10 "
            "bits after the point, subnormal numbers, infinite from 65520 on), bfloat16 (7 bits, "
            "float32's exponents), tf32 (10 bits, float32's exponents) or float8_e4m3 (3 bits, "
            "float32's exponents: as scaled to its range at best); NaN stays NaN",
            "x.to(torch.float16).to(torch.float32), the same of torch.bfloat16; tf32 as cuBLAS's "
            "operands are rounded");
  op.attributes = {{"format", std::string(), true}};
  op.infer = rounded_type;
  return op;
}

Operator binary(std::string name, std::string formula, std::string follows) {
  return {.name = std::move(name),
          .formula = std::move(formula) +
                     "; shapes broadcast: aligned at the right, an extent of 1 repeats",
          .shapes = "a [...], b [...] -> [...], the shapes broadcast",
          .follows = std::move(follows),
          .min_inputs = 2,
          .max_inputs = 2,
          .attributes = {},
          .infer = broadcast_type,
          .flops = flops_per_output<1>};
}

}  // namespace

const std::vector<Operator>& elementwise_operators() {
  static const AttributeSpec value{"value", 0.0, true};
  static const std::vector<Operator> operators = {
      unary("relu", "max(x, 0); NaN stays NaN", "torch.relu(x)"),
      unary("leaky_relu", "x where x > 0, else slope * x",
            "torch.nn.functional.leaky_relu(x, negative_slope=slope)", {"slope", 0.01}),
      unary("sigmoid", "1 / (1 + exp(-x))", "torch.sigmoid(x)"),
      unary("gelu", "x * (1 + erf(x / sqrt(2))) / 2, the exact form",
            "torch.nn.functional.gelu(x, approximate='none')"),
      unary("tanh", "(exp(x) - exp(-x)) / (exp(x) + exp(-x))", "torch.tanh(x)"),
      unary("selu", "1.0507009873554805 * (x where x > 0, else 1.6732632423543772 * (exp(x) - 1))",
            "torch.nn.functional.selu(x)"),
      unary("elu", "x where x > 0, else alpha * (exp(x) - 1)",
            "torch.nn.functional.elu(x, alpha=alpha)", {"alpha", 1.0}),
      unary("softplus", "log(1 + exp(x)), and x itself where x > 20",
            "torch.nn.functional.softplus(x, beta=1, threshold=20)"),
      unary("mish", "x * tanh(log(1 + exp(x)))", "torch.nn.functional.mish(x)"),
      unary("hardsigmoid", "min(max(x / 6 + 1 / 2, 0), 1)", "torch.nn.functional.hardsigmoid(x)"),
      unary("hardswish", "x * min(max(x / 6 + 1 / 2, 0), 1)", "torch.nn.functional.hardswish(x)"),
      unary("exp", "e to the x", "torch.exp(x)"),
      unary("log", "the natural logarithm of x", "torch.log(x)"),
      unary("sin", "the sine of x, an angle in radians", "torch.sin(x)"),
      unary("cos", "the cosine of x, an angle in radians", "torch.cos(x)"),
      unary("abs", "x without its sign", "torch.abs(x)"),
      unary("neg", "-x", "torch.neg(x)"),
      unary("square", "x * x", "torch.square(x)"),
      unary("cube", "x * x * x", "torch.pow(x, 3)"),
      unary("sqrt", "the square root of x; NaN where x < 0", "torch.sqrt(x)"),
      clamp_operator(),
      unary("clamp_min", "max(x, value); NaN stays NaN", "torch.clamp_min(x, value)", value),
      unary("clamp_max", "min(x, value); NaN stays NaN", "torch.clamp_max(x, value)", value),
      unary("add_scalar", "x + value", "torch.add(x, value)", value),
      unary("sub_scalar", "x - value", "torch.sub(x, value)", value),
      unary("mul_scalar", "x * value", "torch.mul(x, value)", value),
      unary("div_scalar", "x / value", "torch.div(x, value)", value),
      binary("add", "a + b", "torch.add(a, b)"),
      binary("sub", "a - b", "torch.sub(a, b)"),
      binary("mul", "a * b", "torch.mul(a, b)"),
      binary("div", "a / b", "torch.div(a, b)"),
      {.name = "mul_mask",
       .formula = "x * mask, mask being 0 or 1 and of x's shape",
       .shapes = "x [...], mask bool [...] -> [...]",
       .follows = "torch.mul(x, mask)",
       .min_inputs = 2,
       .max_inputs = 2,
       .attributes = {},
       .infer = mask_type,
       .flops = flops_per_output<1>},
      round_to_operator(),
      {.name = "cast",
       .formula = "x as elements of type dtype: to floats the nearest, to those of 16 bits by way "
                  "of f32; floats to integers towards zero, at most to the end of the type's "
                  "range, NaN to 0; integers to integers modulo their range; to bool x != 0",
       .follows = "x.to(dtype)",
       .attributes = {{"dtype", std::string(), true}},
       .infer = cast_type,
       .flops = flops_per_output<1>},
      binary("maximum", "the larger of a and b; NaN where either is", "torch.maximum(a, b)"),
      binary("minimum", "the smaller of a and b; NaN where either is", "torch.minimum(a, b)"),
  };
  return operators;
}

Value relu(Value x) { return call_operator("relu", {x}); }
Value leaky_relu(Value x, double slope) {
  return call_operator("leaky_relu", {x}, {{"slope", slope}});
}
Value sigmoid(Value x) { return call_operator("sigmoid", {x}); }
Value gelu(Value x) { return call_operator("gelu", {x}); }
Value tanh(Value x) { return call_operator("tanh", {x}); }
Value selu(Value x) { return call_operator("selu", {x}); }
Value elu(Value x, double alpha) { return call_operator("elu", {x}, {{"alpha", alpha}}); }
Value softplus(Value x) { return call_operator("softplus", {x}); }
Value mish(Value x) { return call_operator("mish", {x}); }
Value hardsigmoid(Value x) { return call_operator("hardsigmoid", {x}); }
Value hardswish(Value x) { return call_operator("hardswish", {x}); }
Value exp(Value x) { return call_operator("exp", {x}); }
Value log(Value x) { return call_operator("log", {x}); }
Value sin(Value x) { return call_operator("sin", {x}); }
Value cos(Value x) { return call_operator("cos", {x}); }
Value abs(Value x) { return call_operator("abs", {x}); }
Value operator-(Value x) { return call_operator("neg", {x}); }
Value clamp_min(Value x, double lo) { return call_operator("clamp_min", {x}, {{"value", lo}}); }
Value clamp_max(Value x, double hi) { return call_operator("clamp_max", {x}, {{"value", hi}}); }
Value clamp(Value x, double lo, double hi) {
  return call_operator("clamp", {x}, {{"lo", lo}, {"hi", hi}});
}
Value maximum(Value a, Value b) { return call_operator("maximum", {a, b}); }
Value minimum(Value a, Value b) { return call_operator("minimum", {a, b}); }
Value square(Value x) { return call_operator("square", {x}); }
Value cube(Value x) { return call_operator("cube", {x}); }
Value sqrt(Value x) { return call_operator("sqrt", {x}); }

Value round_to(Value x, const std::string& format) {
  return call_operator("round_to", {x}, {{"format", format}});
}

Value gelu_tanh(Value x) {
  const Value cubic = x + cube(x) * 0.044715;
  return x * 0.5 * (tanh(cubic * std::sqrt(2 / std::numbers::pi)) + 1);
}
Value mul_mask(Value x, Value mask) { return call_operator("mul_mask", {x, mask}); }

Value operator+(Value a, Value b) { return call_operator("add", {a, b}); }
Value operator-(Value a, Value b) { return call_operator("sub", {a, b}); }
Value operator*(Value a, Value b) { return call_operator("mul", {a, b}); }
Value operator/(Value a, Value b) { return call_operator("div", {a, b}); }
Value operator+(Value a, double b) { return call_operator("add_scalar", {a}, {{"value", b}}); }
Value operator-(Value a, double b) { return call_operator("sub_scalar", {a}, {{"value", b}}); }
Value operator*(Value a, double b) { return call_operator("mul_scalar", {a}, {{"value", b}}); }
Value operator/(Value a, double b) { return call_operator("div_scalar", {a}, {{"value", b}}); }

}  // namespace kbench
