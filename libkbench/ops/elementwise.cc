// Elementwise operators. Each output element depends on the input elements at its own position.
#include <algorithm>

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

Operator unary(std::string name, std::string formula) {
  return {.name = std::move(name),
          .formula = std::move(formula),
          .attributes = {},
          .infer = same_type,
          .flops = flops_per_output<1>};
}

Operator unary(std::string name, std::string formula, AttributeSpec attribute) {
  Operator op = unary(std::move(name), std::move(formula));
  op.attributes = {std::move(attribute)};
  return op;
}

Operator binary(std::string name, std::string formula) {
  return {.name = std::move(name),
          .formula = std::move(formula) + ", shapes broadcast as in NumPy",
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
      unary("relu", "max(x, 0); NaN stays NaN"),
      unary("leaky_relu", "x if x > 0 else slope * x", {"slope", 0.01}),
      unary("sigmoid", "1 / (1 + exp(-x))"),
      unary("gelu", "x * (1 + erf(x / sqrt(2))) / 2, the exact form"),
      unary("square", "x * x"),
      unary("sqrt", "the square root of x"),
      unary("add_scalar", "x + value", value),
      unary("sub_scalar", "x - value", value),
      unary("mul_scalar", "x * value", value),
      unary("div_scalar", "x / value", value),
      binary("add", "a + b"),
      binary("sub", "a - b"),
      binary("mul", "a * b"),
      binary("div", "a / b"),
  };
  return operators;
}

Value relu(Value x) { return call_operator("relu", {x}); }
Value leaky_relu(Value x, double slope) {
  return call_operator("leaky_relu", {x}, {{"slope", slope}});
}
Value sigmoid(Value x) { return call_operator("sigmoid", {x}); }
Value gelu(Value x) { return call_operator("gelu", {x}); }
Value square(Value x) { return call_operator("square", {x}); }
Value sqrt(Value x) { return call_operator("sqrt", {x}); }

Value operator+(Value a, Value b) { return call_operator("add", {a, b}); }
Value operator-(Value a, Value b) { return call_operator("sub", {a, b}); }
Value operator*(Value a, Value b) { return call_operator("mul", {a, b}); }
Value operator/(Value a, Value b) { return call_operator("div", {a, b}); }
Value operator+(Value a, double b) { return call_operator("add_scalar", {a}, {{"value", b}}); }
Value operator-(Value a, double b) { return call_operator("sub_scalar", {a}, {{"value", b}}); }
Value operator*(Value a, double b) { return call_operator("mul_scalar", {a}, {{"value", b}}); }
Value operator/(Value a, double b) { return call_operator("div_scalar", {a}, {{"value", b}}); }

}  // namespace kbench
