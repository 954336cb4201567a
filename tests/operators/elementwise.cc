// Elementwise operators: one floating-point operation an element, whatever the function.
#include <algorithm>
#include <cmath>

#include "tests/operators/definition.h"

namespace kbench::definitions {
namespace {

using Unary = double (*)(double x, const Attributes& a);
using Binary = double (*)(double a, double b);

/// Every element by itself, by what `f` makes of it.
template <class F>
Answer mapped(const Array& x, DType dtype, F f) {
  Answer answer{{Array(x.shape, dtype)}, 0};
  for (size_t i = 0; i < x.values.size(); ++i) {
    answer.outputs[0].values[i] = f(x.values[i]);
    answer.flops += 1;
  }
  return answer;
}

Definition unary(const char* op, Unary f) {
  return {op, [f](const OperatorCall& call, const std::vector<Array>& in) {
            return mapped(in[0], DType::f32, [&](double x) { return f(x, call.attributes); });
          }};
}

/// The element of a broadcast array: extents of 1 repeat, missing leading ones too.
double broadcast_at(const Array& array, const Index& index) {
  Index own(index.end() - static_cast<int64_t>(array.shape.size()), index.end());
  for (size_t d = 0; d < own.size(); ++d) {
    if (array.shape[d] == 1) own[d] = 0;
  }
  return array.at(own);
}

/// NumPy's words: "prepend ones to the shorter shape; an extent of 1 takes the other's".
Shape broadcast_shape(Shape a, Shape b) {
  while (a.size() < b.size()) a.insert(a.begin(), 1);
  while (b.size() < a.size()) b.insert(b.begin(), 1);
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d] == 1) a[d] = b[d];
  }
  return a;
}

Definition binary(const char* op, Binary f) {
  return {op,
          [f](const OperatorCall&, const std::vector<Array>& in) {
            Answer answer{{Array(broadcast_shape(in[0].shape, in[1].shape))}, 0};
            Array& y = answer.outputs[0];
            for_each_index(y.shape, [&](const Index& i) {
              y.at(i) = f(broadcast_at(in[0], i), broadcast_at(in[1], i));
              answer.flops += 1;
            });
            return answer;
          },
          1e-5, 0};
}

/// The multiple of the last place nearest to x, ties to even as the processor rounds.
double nearest(double x, int least_exponent, int bits, double most) {
  if (x == 0) return x;
  const double place = std::ldexp(1, std::max(std::ilogb(x), least_exponent) - bits);
  const double y = std::nearbyint(x / place) * place;
  return std::abs(y) > most ? std::copysign(HUGE_VAL, x) : y;
}

Answer round_to(const OperatorCall& call, const std::vector<Array>& in) {
  const std::string& format = call.attributes.word("format");
  return mapped(in[0], DType::f32, [&](double x) {
    return format == "float16" ? nearest(x, -14, 10, 65504)
           : format == "tf32"  ? nearest(x, -126, 10, 0x1.ffcp127)
                               : nearest(x, -126, 7, 0x1.fep127);
  });
}

double cast_to(DType dtype, double x, bool from_float) {
  if (dtype == DType::f32) return x;
  if (dtype == DType::boolean) return x != 0;
  const int bits = dtype == DType::u8 ? 8 : dtype == DType::i64 ? 64 : 32;
  const bool sign = dtype == DType::i64 || dtype == DType::i32;
  const double range = std::ldexp(1, bits), least = sign ? -range / 2 : 0;
  if (from_float) return std::clamp(std::trunc(x), least, least + range - 1) + 0.0;
  return x - std::floor((x - least) / range) * range;
}

Answer cast(const OperatorCall& call, const std::vector<Array>& in) {
  const DType to = dtype_from_name(call.attributes.word("dtype"));
  return mapped(in[0], to, [&](double x) { return cast_to(to, x, in[0].dtype == DType::f32); });
}

double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }
double hardsigmoid(double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }

}  // namespace

std::vector<Definition> elementwise_definitions() {
  using A = const Attributes&;
  return {
      unary("relu", [](double x, A) { return x > 0 ? x : 0; }),
      unary("leaky_relu", [](double x, A a) { return x > 0 ? x : a.real("slope") * x; }),
      unary("sigmoid", [](double x, A) { return 1 / (1 + std::exp(-x)); }),
      {"gelu",
       unary("", [](double x, A) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }).work_out, 1e-5,
       64},  // small results are differences of larger numbers
      unary("tanh", [](double x, A) { return std::tanh(x); }),
      unary("selu",
            [](double x, A) {
              const double alpha = 1.6732632423543772848170429916717;
              const double scale = 1.0507009873554804934193349852946;
              return scale * (x > 0 ? x : alpha * std::expm1(x));
            }),
      unary("elu", [](double x, A a) { return x > 0 ? x : a.real("alpha") * std::expm1(x); }),
      unary("softplus", [](double x, A) { return softplus(x); }),
      unary("mish", [](double x, A) { return x * std::tanh(softplus(x)); }),
      unary("hardsigmoid", [](double x, A) { return hardsigmoid(x); }),
      unary("hardswish", [](double x, A) { return x * hardsigmoid(x); }),
      unary("exp", [](double x, A) { return std::exp(x); }),
      unary("log", [](double x, A) { return std::log(x); }),
      unary("sin", [](double x, A) { return std::sin(x); }),
      unary("cos", [](double x, A) { return std::cos(x); }),
      unary("abs", [](double x, A) { return x < 0 ? -x : x; }),
      unary("neg", [](double x, A) { return -x; }),
      unary("square", [](double x, A) { return x * x; }),
      unary("cube", [](double x, A) { return x * x * x; }),
      unary("sqrt", [](double x, A) { return std::sqrt(x); }),
      unary("clamp",
            [](double x, A a) { return std::min(std::max(x, a.real("lo")), a.real("hi")); }),
      unary("clamp_min", [](double x, A a) { return std::max(x, a.real("value")); }),
      unary("clamp_max", [](double x, A a) { return std::min(x, a.real("value")); }),
      unary("add_scalar", [](double x, A a) { return x + a.real("value"); }),
      unary("sub_scalar", [](double x, A a) { return x - a.real("value"); }),
      unary("mul_scalar", [](double x, A a) { return x * a.real("value"); }),
      unary("div_scalar", [](double x, A a) { return x / a.real("value"); }),
      binary("add", [](double a, double b) { return a + b; }),
      binary("sub", [](double a, double b) { return a - b; }),
      binary("mul", [](double a, double b) { return a * b; }),
      binary("div", [](double a, double b) { return a / b; }),
      binary("maximum", [](double a, double b) { return a > b ? a : b; }),
      binary("minimum", [](double a, double b) { return a < b ? a : b; }),
      binary("mul_mask", [](double a, double b) { return a * b; }),
      {"round_to", round_to, 0, 0},
      {"cast", cast, 0, 0},
  };
}

}  // namespace kbench::definitions
