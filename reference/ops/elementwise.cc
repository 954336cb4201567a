// Elementwise operators.
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <unsupported/Eigen/SpecialFunctions>

#include "libkbench/core/dimensions.h"
#include "reference/arrays.h"
#include "reference/call.h"

namespace kbench::reference {
namespace {

/// y = f(x), f taking a block's elements to as many: to an expression of x, or to a Block where it
/// has arrays of its own.
template <class F>
void map(Inputs in, Outputs out, const F& f) {
  with_type(out[0], [&]<class T>() {
    const T* x = elements<T>(in, 0);
    T* y = result<T>(out);
    parallel_blocks(out[0].elements(), kWorthwhile, [&](int64_t begin, int64_t end) {
      using Result = Eigen::Map<Array<T>, Eigen::AlignedMax>;
      for (; begin + kBlock <= end; begin += kBlock) {  // tensors are aligned, and so are blocks
        Result(y + begin, kBlock) = f(Whole<T>(x + begin, kBlock));
      }
      if (begin == end) return;
      Block<T> block = block_of(x + begin, end - begin, T(1));
      Result(block.data(), block.size()) = f(Whole<T>(block.data(), block.size()));
      array(y + begin, end - begin) = block.head(end - begin);
    });
  });
}

/// y = f(a, b), both broadcast as NumPy does.
template <class F>
void zip(Inputs in, Outputs out, const F& f) {
  const Shape& shape = out[0].shape();
  std::vector<Dimension> dims = merged(broadcast_dimensions(in[0].shape(), in[1].shape(), shape));
  if (dims.empty()) dims.push_back({1, 1, 1});
  const Dimension inner = dims.back();
  dims.pop_back();
  with_type(out[0], [&]<class T>() {
    parallel_blocks(out[0].elements(), kWorthwhile, [&](int64_t begin, int64_t end) {
      for (int64_t count; begin < end; begin += count) {
        const int64_t column = begin % inner.extent;
        count = std::min(end - begin, inner.extent - column);
        const T* a = elements<T>(in, 0) + column * inner.a;
        const T* b = elements<T>(in, 1) + column * inner.b;
        int64_t row = begin / inner.extent;
        for (size_t d = dims.size(); d-- > 0; row /= dims[d].extent) {
          a += row % dims[d].extent * dims[d].a;
          b += row % dims[d].extent * dims[d].b;
        }
        auto y = array(result<T>(out) + begin, count);
        if (inner.a == 0) {
          y = f(Array<T>::Constant(count, *a), array(b, count));
        } else if (inner.b == 0) {
          y = f(array(a, count), Array<T>::Constant(count, *b));
        } else {
          y = f(array(a, count), array(b, count));
        }
      }
    });
  });
}

/// The float32 whose mantissa's last `dropped` bits are rounded away, ties to even. The carry of a
/// mantissa goes into the exponent, and so on to infinity.
float without_bits(float x, int dropped) {
  if (std::isnan(x)) return x;
  auto bits = std::bit_cast<uint32_t>(x);
  bits += (uint32_t{1} << (dropped - 1)) - 1 + (bits >> dropped & 1);
  return std::bit_cast<float>(bits >> dropped << dropped);
}

/// Normal numbers lose 13 bits of mantissa, below them the grid is 2^-24 wide: adding a number of
/// that grid's exponent rounds to it.
float rounded_to_float16(float x) {
  constexpr float kGrid = 0.5f, kNormal = 0x1p-14f, kInfinite = 65520;
  const float size = std::abs(x);
  if (size >= kInfinite) return std::copysign(std::numeric_limits<float>::infinity(), x);
  if (size < kNormal) return std::copysign(size + kGrid - kGrid, x);
  return without_bits(x, 13);
}

/// exp(x) - 1 for x below zero, zero above: Eigen's own takes an exponential and a logarithm.
template <class T>
Block<T> expm1_below(const Whole<T>& x) {
  const Block<T> half = (at_most(x, T(0)) * T(0.5)).tanh();
  return half * T(2) / (T(1) - half);
}

template <class T>
auto hard_sigmoid(const Whole<T>& x) {
  return at_most(at_least(x / T(6) + T(0.5), T(0)), T(1));
}

}  // namespace

void run_relu(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) { return at_least(x, T(0)); });
}

void run_leaky_relu(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out, [slope = call.attributes.real("slope")]<class T>(const Whole<T>& x) {
    return at_least(x, T(0)) + at_most(x, T(0)) * static_cast<T>(slope);
  });
}

void run_sigmoid(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) { return logistic(x); });
}

void run_gelu(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) {
    return x * T(0.5) * ((x * static_cast<T>(std::numbers::sqrt2 / 2)).erf() + T(1));
  });
}

void run_tanh(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) { return x.tanh(); });
}

void run_selu(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) -> Block<T> {
    constexpr T kScale = 1.0507009873554805, kAlpha = 1.6732632423543772;
    return (at_least(x, T(0)) + expm1_below(x) * kAlpha) * kScale;
  });
}

void run_elu(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out, [alpha = call.attributes.real("alpha")]<class T>(const Whole<T>& x) -> Block<T> {
    return at_least(x, T(0)) + expm1_below(x) * static_cast<T>(alpha);
  });
}

void run_softplus(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) -> Block<T> {
    const Block<T> y = at_least(x, T(0)) + exponential(-x.abs()).log1p();
    return (x > T(20)).select(x, y);
  });
}

void run_mish(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) -> Block<T> {
    // tanh(log(1 + e)) = ((1 + e)^2 - 1) / ((1 + e)^2 + 1), which is 1 from x = 20 on
    const Block<T> e = exponential(at_most(x, T(20)));
    const Block<T> p = e * (e + T(2));
    return x * (p / (p + T(2)));
  });
}

void run_hardsigmoid(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) { return hard_sigmoid(x); });
}

void run_hardswish(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) { return x * hard_sigmoid(x); });
}

void run_exp(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) { return exponential(x); });
}

void run_log(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) { return logarithm(x); });
}

void run_abs(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) { return x.abs(); });
}

void run_neg(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) { return -x; });
}

void run_square(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) { return x.square(); });
}

void run_sqrt(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(const Whole<T>& x) {  // Eigen's own is an approximation in AVX
    return x.unaryExpr([](T v) { return std::sqrt(v); });
  });
}

void run_round_to(const OperatorCall& call, Inputs in, Outputs out) {
  const std::string& format = call.attributes.word("format");
  const auto each = [&](auto round) {
    map(in, out, [=]<class T>(const Whole<T>& x) {
      return x.unaryExpr([=](T v) { return static_cast<T>(round(static_cast<float>(v))); });
    });
  };
  if (format == "float16") return each(rounded_to_float16);
  const int dropped = format == "bfloat16" ? 16 : 13;
  each([=](float v) { return without_bits(v, dropped); });
}

void run_clamp(const OperatorCall& call, Inputs in, Outputs out) {
  const double lo = call.attributes.real("lo"), hi = call.attributes.real("hi");
  map(in, out, [=]<class T>(const Whole<T>& x) {
    return at_most(at_least(x, static_cast<T>(lo)), static_cast<T>(hi));
  });
}

void run_clamp_min(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out, [value = call.attributes.real("value")]<class T>(const Whole<T>& x) {
    return at_least(x, static_cast<T>(value));
  });
}

void run_clamp_max(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out, [value = call.attributes.real("value")]<class T>(const Whole<T>& x) {
    return at_most(x, static_cast<T>(value));
  });
}

void run_add_scalar(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out, [value = call.attributes.real("value")]<class T>(const Whole<T>& x) {
    return x + static_cast<T>(value);
  });
}

void run_sub_scalar(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out, [value = call.attributes.real("value")]<class T>(const Whole<T>& x) {
    return x - static_cast<T>(value);
  });
}

void run_mul_scalar(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out, [value = call.attributes.real("value")]<class T>(const Whole<T>& x) {
    return x * static_cast<T>(value);
  });
}

void run_div_scalar(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out, [value = call.attributes.real("value")]<class T>(const Whole<T>& x) {
    return x / static_cast<T>(value);
  });
}

void run_add(const OperatorCall&, Inputs in, Outputs out) {
  zip(in, out, [](const auto& a, const auto& b) { return a + b; });
}

void run_sub(const OperatorCall&, Inputs in, Outputs out) {
  zip(in, out, [](const auto& a, const auto& b) { return a - b; });
}

void run_mul(const OperatorCall&, Inputs in, Outputs out) {
  zip(in, out, [](const auto& a, const auto& b) { return a * b; });
}

void run_div(const OperatorCall&, Inputs in, Outputs out) {
  zip(in, out, [](const auto& a, const auto& b) { return a / b; });
}

void run_maximum(const OperatorCall&, Inputs in, Outputs out) {
  zip(in, out, [](const auto& a, const auto& b) { return larger(a, b); });
}

void run_minimum(const OperatorCall&, Inputs in, Outputs out) {
  zip(in, out, [](const auto& a, const auto& b) { return smaller(a, b); });
}

void run_mul_mask(const OperatorCall&, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    parallel_blocks(out[0].elements(), kWorthwhile, [&](int64_t begin, int64_t end) {
      array(result<T>(out) + begin, end - begin) =
          array(elements<T>(in, 0) + begin, end - begin) *
          array(elements<bool>(in, 1) + begin, end - begin).template cast<T>();
    });
  });
}

}  // namespace kbench::reference
