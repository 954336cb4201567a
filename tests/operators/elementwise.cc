// Elementwise operators: one floating-point operation an element, whatever the function.
#include <algorithm>
#include <cmath>

#include "tests/operators/definition.h"

namespace kbench::definitions {
namespace {

using Unary = double (*)(double x, const Attributes& a);
using Binary = double (*)(double a, double b);
using Draw = Array (*)(Dice& dice, Shape shape);

Array both_signs(Dice& dice, Shape shape) { return dice.normal(std::move(shape), 3); }
Array positive(Dice& dice, Shape shape) { return dice.uniform(std::move(shape), 0.01, 9); }
Array away_from_zero(Dice& dice, Shape shape) {
  Array array = dice.uniform(std::move(shape), 0.5, 2);
  for (double& v : array.values) v = dice.coin() ? v : -v;
  return array;
}

Definition unary(const char* op, Unary f, std::vector<std::string> numbers = {},
                 Draw draw = both_signs) {
  Definition d;
  d.op = op;
  d.draw = [numbers, draw](Dice& dice) {
    Sample sample{{draw(dice, dice.shape(0, 4))}, {}};
    double number = dice.real(-2, 0.5);  // what a divisor is, too: never 0, whichever seed
    for (const std::string& name : numbers) {
      if (number == 0) number = -1;
      sample.attributes.set(name, number);
      number += dice.real(0.5, 2);
    }
    return sample;
  };
  d.work_out = [f](const OperatorCall& call, const std::vector<Array>& in) {
    Answer answer{{Array(in[0].shape)}, 0};
    for (size_t i = 0; i < in[0].values.size(); ++i) {
      answer.outputs[0].values[i] = f(in[0].values[i], call.attributes);
      answer.flops += 1;
    }
    return answer;
  };
  return d;
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

/// Two shapes that broadcast: each drops leading dimensions or has ones in place of others.
std::pair<Shape, Shape> broadcast_pair(Dice& dice) {
  const Shape whole = dice.shape(0, 4);
  Shape a = whole, b = whole;
  for (size_t d = 0; d < whole.size(); ++d) {
    switch (dice.between(0, 4)) {
      case 0:
        a[d] = 1;
        break;
      case 1:
        b[d] = 1;
        break;
      default:
        break;
    }
  }
  Shape& shorter = dice.coin() ? a : b;
  shorter.erase(shorter.begin(), shorter.begin() + dice.between(0, static_cast<int64_t>(a.size())));
  return {a, b};
}

Definition binary(const char* op, Binary f) {
  Definition d;
  d.op = op;
  d.draw = [](Dice& dice) {
    const auto [a, b] = broadcast_pair(dice);
    return Sample{{dice.normal(a), away_from_zero(dice, b)}, {}};
  };
  d.work_out = [f](const OperatorCall&, const std::vector<Array>& in) {
    Answer answer{{Array(broadcast_shape(in[0].shape, in[1].shape))}, 0};
    Array& y = answer.outputs[0];
    for_each_index(y.shape, [&](const Index& i) {
      y.at(i) = f(broadcast_at(in[0], i), broadcast_at(in[1], i));
      answer.flops += 1;
    });
    return answer;
  };
  return d;
}

Definition mul_mask() {
  Definition d;
  d.op = "mul_mask";
  d.draw = [](Dice& dice) {
    const Shape shape = dice.shape(0, 4);
    return Sample{{dice.normal(shape), dice.integers(shape, 2, DType::boolean)}, {}};
  };
  d.work_out = [](const OperatorCall&, const std::vector<Array>& in) {
    Answer answer{{Array(in[0].shape)}, 0};
    for (size_t i = 0; i < in[0].values.size(); ++i) {
      answer.outputs[0].values[i] = in[0].values[i] * in[1].values[i];
      answer.flops += 1;
    }
    return answer;
  };
  return d;
}

/// The multiple of the last place nearest to x, ties to even as the processor rounds.
double nearest(double x, int least_exponent, int bits, double most) {
  if (x == 0) return x;
  const double place = std::ldexp(1, std::max(std::ilogb(x), least_exponent) - bits);
  const double y = std::nearbyint(x / place) * place;
  return std::abs(y) > most ? std::copysign(HUGE_VAL, x) : y;
}

Definition round_to() {
  Definition d;
  d.op = "round_to";
  d.draw = [](Dice& dice) {
    const char* formats[] = {"float16", "bfloat16", "tf32"};
    Sample sample{{both_signs(dice, dice.shape(0, 4))}, {}};
    // From below float16's smallest number to above its largest.
    for (double& v : sample.inputs[0].values) v = std::ldexp(v, int(dice.between(-27, 17)));
    sample.attributes.set("format", std::string(formats[dice.between(0, 2)]));
    return sample;
  };
  d.work_out = [](const OperatorCall& call, const std::vector<Array>& in) {
    const std::string& format = call.attributes.word("format");
    Answer answer{{Array(in[0].shape)}, 0};
    for (size_t i = 0; i < in[0].values.size(); ++i) {
      const double x = in[0].values[i];
      answer.outputs[0].values[i] = format == "float16" ? nearest(x, -14, 10, 65504)
                                    : format == "tf32"  ? nearest(x, -126, 10, 0x1.ffcp127)
                                                        : nearest(x, -126, 7, 0x1.fep127);
      answer.flops += 1;
    }
    return answer;
  };
  d.float_error = 0;
  return d;
}

/// Elements of integers that a float32 has exactly, of both signs where the type has two.
Array elements(Dice& dice, Shape shape, DType dtype) {
  if (dtype == DType::f32) return dice.uniform(std::move(shape), -400, 400);
  const int64_t below = dtype == DType::boolean ? 2 : dtype == DType::u8 ? 256 : 1000;
  Array array = dice.integers(std::move(shape), below, dtype);
  if (dtype == DType::i64 || dtype == DType::i32) {
    for (double& v : array.values) v -= 500;
  }
  return array;
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

Definition cast() {
  static constexpr DType kTypes[] = {DType::f32, DType::i64, DType::boolean,
                                     DType::i32, DType::u32, DType::u8};
  Definition d;
  d.op = "cast";
  d.draw = [](Dice& dice) {
    Sample sample{{elements(dice, dice.shape(0, 4), kTypes[dice.between(0, 5)])}, {}};
    sample.attributes.set("dtype", std::string(name_of(kTypes[dice.between(0, 5)])));
    return sample;
  };
  d.work_out = [](const OperatorCall& call, const std::vector<Array>& in) {
    const DType to = dtype_from_name(call.attributes.word("dtype"));
    Answer answer{{Array(in[0].shape, to)}, 0};
    for (size_t i = 0; i < in[0].values.size(); ++i) {
      answer.outputs[0].values[i] = cast_to(to, in[0].values[i], in[0].dtype == DType::f32);
      answer.flops += 1;
    }
    return answer;
  };
  d.float_error = 0;
  return d;
}

double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }
double hardsigmoid(double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }

}  // namespace

std::vector<Definition> elementwise_definitions() {
  using A = const Attributes&;
  return {
      unary("relu", [](double x, A) { return x > 0 ? x : 0; }),
      unary("leaky_relu", [](double x, A a) { return x > 0 ? x : a.real("slope") * x; }, {"slope"}),
      unary("sigmoid", [](double x, A) { return 1 / (1 + std::exp(-x)); }),
      unary("gelu", [](double x, A) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }),
      unary("tanh", [](double x, A) { return std::tanh(x); }),
      unary("selu",
            [](double x, A) {
              const double alpha = 1.6732632423543772848170429916717;
              const double scale = 1.0507009873554804934193349852946;
              return scale * (x > 0 ? x : alpha * std::expm1(x));
            }),
      unary("elu", [](double x, A a) { return x > 0 ? x : a.real("alpha") * std::expm1(x); },
            {"alpha"}),
      unary("softplus", [](double x, A) { return softplus(x); }),
      unary("mish", [](double x, A) { return x * std::tanh(softplus(x)); }),
      unary("hardsigmoid", [](double x, A) { return hardsigmoid(x); }),
      unary("hardswish", [](double x, A) { return x * hardsigmoid(x); }),
      unary("exp", [](double x, A) { return std::exp(x); }),
      unary(
          "log", [](double x, A) { return std::log(x); }, {}, positive),
      unary("sin", [](double x, A) { return std::sin(x); }),
      unary("cos", [](double x, A) { return std::cos(x); }),
      unary("abs", [](double x, A) { return x < 0 ? -x : x; }),
      unary("neg", [](double x, A) { return -x; }),
      unary("square", [](double x, A) { return x * x; }),
      unary(
          "sqrt", [](double x, A) { return std::sqrt(x); }, {}, positive),
      unary("clamp",
            [](double x, A a) { return std::min(std::max(x, a.real("lo")), a.real("hi")); },
            {"lo", "hi"}),
      unary("clamp_min", [](double x, A a) { return std::max(x, a.real("value")); }, {"value"}),
      unary("clamp_max", [](double x, A a) { return std::min(x, a.real("value")); }, {"value"}),
      unary("add_scalar", [](double x, A a) { return x + a.real("value"); }, {"value"}),
      unary("sub_scalar", [](double x, A a) { return x - a.real("value"); }, {"value"}),
      unary("mul_scalar", [](double x, A a) { return x * a.real("value"); }, {"value"}),
      unary("div_scalar", [](double x, A a) { return x / a.real("value"); }, {"value"}),
      binary("add", [](double a, double b) { return a + b; }),
      binary("sub", [](double a, double b) { return a - b; }),
      binary("mul", [](double a, double b) { return a * b; }),
      binary("div", [](double a, double b) { return a / b; }),
      binary("maximum", [](double a, double b) { return a > b ? a : b; }),
      binary("minimum", [](double a, double b) { return a < b ? a : b; }),
      mul_mask(),
      round_to(),
      cast(),
  };
}

}  // namespace kbench::definitions
