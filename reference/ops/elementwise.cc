// Elementwise operators.
#include <bit>
#include <cmath>
#include <numbers>
#include <string>
#include <unsupported/Eigen/SpecialFunctions>

#include "libkbench/base/half.h"
#include "libkbench/core/dimensions.h"
#include "reference/arrays.h"
#include "reference/call.h"

namespace kbench::reference {
namespace {

/// Calls evaluate(x, y, n) for a block of inputs and outputs at a time: aligned and of whole
/// vectors, n at most kBlock; y may be x. Compiled once a type and not for every operator.
template <class T>
void for_each_block(Inputs in, Outputs out, LoopBody<const T*, T*, int64_t> evaluate) {
  const T* x = elements<T>(in, 0);
  T* y = result<T>(out);
  parallel_blocks(out[0].elements(), kWorthwhile, [&](int64_t begin, int64_t end) {
    for (; begin + kBlock <= end; begin += kBlock) {  // tensors are aligned, and so are blocks
      evaluate(x + begin, y + begin, kBlock);
    }
    if (begin == end) return;
    Block<T> block = block_of(x + begin, end - begin, T(1));
    evaluate(block.data(), block.data(), block.size());
    array(y + begin, end - begin) = block.head(end - begin);
  });
}

/// evaluate<T>(x, y, n) by blocks, as for_each_block().
template <class F>
void map_blocks(Inputs in, Outputs out, const F& evaluate) {
  with_type(out[0], [&]<class T>() { for_each_block<T>(in, out, evaluate); });
}

/// y = f(x), f taking one element. Such loops the compiler makes vectors of, in a fraction of the
/// time that it takes for Eigen's expressions; their results are the same bits.
template <class F>
void map(Inputs in, Outputs out, const F& f) {
  map_blocks(in, out, [&]<class T>(const T* x, T* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
  });
}

/// A block's elements for an operator's own use.
template <class T>
struct Temporary {
  alignas(64) T values[kBlock];
  T& operator[](int64_t i) { return values[i]; }
};

// Eigen's functions of a block, each compiled once a type.
template <class T>
using Aligned = Eigen::Map<Array<T>, Eigen::AlignedMax>;
template <class T>
[[gnu::noinline]] void take_exponential(T* x, int64_t n) {
  Aligned<T>(x, n) = exponential(Whole<T>(x, n));
}
template <class T>
[[gnu::noinline]] void take_tanh(T* x, int64_t n) {
  Aligned<T>(x, n) = Whole<T>(x, n).tanh();
}

/// The larger and the smaller of an element and a bound: NaN stays, and of zeros it is the bound's.
/// In a loop that computes on with one, the compiler makes branches of it in place of vectors: such
/// operators take two loops.
template <class T>
T at_least(T x, T low) {
  return x <= low ? low : x;
}
template <class T>
T at_most(T x, T high) {
  return x >= high ? high : x;
}

/// Calls body(a, one_a, b, one_b, y, n) for stretches of the output y, n elements each: a and b are
/// broadcast as NumPy does, and one_a tells that a is a single element for the whole stretch.
template <class T>
void for_each_stretch(Inputs in, Outputs out,
                      LoopBody<const T*, bool, const T*, bool, T*, int64_t> body) {
  const Shape& shape = out[0].shape();
  std::vector<Dimension> dims = merged(broadcast_dimensions(in[0].shape(), in[1].shape(), shape));
  if (dims.empty()) dims.push_back({1, 1, 1});
  const Dimension inner = dims.back();
  dims.pop_back();
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
      body(a, inner.a == 0, b, inner.b == 0, result<T>(out) + begin, count);
    }
  });
}

/// y = f(a, b), both broadcast.
template <class F>
void zip(Inputs in, Outputs out, const F& f) {
  with_type(out[0], [&]<class T>() {
    for_each_stretch<T>(in, out,
                        [&](const T* a, bool one_a, const T* b, bool one_b, T* to, int64_t n) {
                          auto y = array(to, n);
                          if (one_a) {
                            y = f(Array<T>::Constant(n, *a), array(b, n));
                          } else if (one_b) {
                            y = f(array(a, n), Array<T>::Constant(n, *b));
                          } else {
                            y = f(array(a, n), array(b, n));
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

float rounded_to_float16(float x) { return from_f16(to_f16(x)); }

/// exp(x) - 1 for x below zero, zero above: Eigen's own takes an exponential and a logarithm.
template <class T>
void expm1_below(const T* x, T* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = at_most(x[i], T(0));
  for (int64_t i = 0; i < n; ++i) y[i] *= T(0.5);
  take_tanh(y, n);
  for (int64_t i = 0; i < n; ++i) y[i] = y[i] * T(2) / (T(1) - y[i]);
}

/// (max(x, 0) + alpha * (exp(min(x, 0)) - 1)) * scale.
template <class T>
void exponential_linear(const T* x, T* y, int64_t n, T alpha, T scale) {
  Temporary<T> below;
  expm1_below(x, below.values, n);
  for (int64_t i = 0; i < n; ++i) y[i] = at_least(x[i], T(0));
  for (int64_t i = 0; i < n; ++i) y[i] = (y[i] + below[i] * alpha) * scale;
}

template <class T>
T hard_sigmoid(T x) {
  return at_most(at_least(x / T(6) + T(0.5), T(0)), T(1));
}

}  // namespace

void run_relu(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(T x) { return at_least(x, T(0)); });
}

void run_leaky_relu(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out, [slope = call.attributes.real("slope")]<class T>(T x) {
    return at_least(x, T(0)) + at_most(x, T(0)) * static_cast<T>(slope);
  });
}

void run_sigmoid(const OperatorCall&, Inputs in, Outputs out) {
  map_blocks(in, out, []<class T>(const T* x, T* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] = T(0) - x[i];
    take_exponential(y, n);
    for (int64_t i = 0; i < n; ++i) y[i] = T(1) / (y[i] + T(1));
  });
}

void run_gelu(const OperatorCall&, Inputs in, Outputs out) {
  map_blocks(in, out, []<class T>(const T* x, T* y, int64_t n) {
    const Whole<T> all(x, n);
    Aligned<T>(y, n) =
        all * T(0.5) * ((all * static_cast<T>(std::numbers::sqrt2 / 2)).erf() + T(1));
  });
}

void run_tanh(const OperatorCall&, Inputs in, Outputs out) {
  map_blocks(in, out, []<class T>(const T* x, T* y, int64_t n) {
    if (x != y) std::copy_n(x, n, y);
    take_tanh(y, n);
  });
}

void run_selu(const OperatorCall&, Inputs in, Outputs out) {
  map_blocks(in, out, []<class T>(const T* x, T* y, int64_t n) {
    exponential_linear<T>(x, y, n, 1.6732632423543772, 1.0507009873554805);
  });
}

void run_elu(const OperatorCall& call, Inputs in, Outputs out) {
  const double alpha = call.attributes.real("alpha");
  map_blocks(in, out, [=]<class T>(const T* x, T* y, int64_t n) {
    exponential_linear<T>(x, y, n, static_cast<T>(alpha), 1);
  });
}

void run_softplus(const OperatorCall&, Inputs in, Outputs out) {
  map_blocks(in, out, []<class T>(const T* x, T* y, int64_t n) {
    Temporary<T> e;
    for (int64_t i = 0; i < n; ++i) e[i] = T(0) - std::abs(x[i]);
    // In one expression: float64 has no vectors of log1p, and so none of exp here.
    Aligned<T>(e.values, n) = exponential(Whole<T>(e.values, n)).log1p();
    Temporary<T> above;
    for (int64_t i = 0; i < n; ++i) above[i] = at_least(x[i], T(0));
    for (int64_t i = 0; i < n; ++i) e[i] = above[i] + e[i];
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] > T(20) ? x[i] : e[i];
  });
}

void run_mish(const OperatorCall&, Inputs in, Outputs out) {
  map_blocks(in, out, []<class T>(const T* x, T* y, int64_t n) {
    // tanh(log(1 + e)) = ((1 + e)^2 - 1) / ((1 + e)^2 + 1), which is 1 from x = 20 on
    Temporary<T> e;
    for (int64_t i = 0; i < n; ++i) e[i] = at_most(x[i], T(20));
    take_exponential(e.values, n);
    for (int64_t i = 0; i < n; ++i) {
      const T p = e[i] * (e[i] + T(2));
      y[i] = x[i] * (p / (p + T(2)));
    }
  });
}

void run_hardsigmoid(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, [](auto x) { return hard_sigmoid(x); });
}

void run_hardswish(const OperatorCall&, Inputs in, Outputs out) {
  map_blocks(in, out, []<class T>(const T* x, T* y, int64_t n) {
    Temporary<T> gate;
    for (int64_t i = 0; i < n; ++i) gate[i] = hard_sigmoid(x[i]);
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] * gate[i];
  });
}

void run_exp(const OperatorCall&, Inputs in, Outputs out) {
  map_blocks(in, out, []<class T>(const T* x, T* y, int64_t n) {
    if (x != y) std::copy_n(x, n, y);
    take_exponential(y, n);
  });
}

void run_log(const OperatorCall&, Inputs in, Outputs out) {
  map_blocks(in, out, []<class T>(const T* x, T* y, int64_t n) {
    Aligned<T>(y, n) = logarithm(Whole<T>(x, n));
  });
}

void run_sin(const OperatorCall&, Inputs in, Outputs out) {
  map_blocks(in, out,
             []<class T>(const T* x, T* y, int64_t n) { Aligned<T>(y, n) = Whole<T>(x, n).sin(); });
}

void run_cos(const OperatorCall&, Inputs in, Outputs out) {
  map_blocks(in, out,
             []<class T>(const T* x, T* y, int64_t n) { Aligned<T>(y, n) = Whole<T>(x, n).cos(); });
}

void run_abs(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, [](auto x) { return std::abs(x); });
}

void run_neg(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, []<class T>(T x) { return T(0) - x; });  // of zero, zero
}

void run_square(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, [](auto x) { return x * x; });
}

void run_cube(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, [](auto x) { return x * x * x; });
}

void run_sqrt(const OperatorCall&, Inputs in, Outputs out) {
  map(in, out, [](auto x) { return std::sqrt(x); });
}

void run_round_to(const OperatorCall& call, Inputs in, Outputs out) {
  const std::string& format = call.attributes.word("format");
  const auto each = [&](auto round) {
    map(in, out, [=]<class T>(T x) { return static_cast<T>(round(static_cast<float>(x))); });
  };
  if (format == "float16") return each(rounded_to_float16);
  const int dropped = format == "bfloat16" ? 16 : format == "float8_e4m3" ? 20 : 13;
  each([=](float v) { return without_bits(v, dropped); });
}

void run_clamp(const OperatorCall& call, Inputs in, Outputs out) {
  const double lo = call.attributes.real("lo"), hi = call.attributes.real("hi");
  map(in, out,
      [=]<class T>(T x) { return at_most(at_least(x, static_cast<T>(lo)), static_cast<T>(hi)); });
}

void run_clamp_min(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out, [value = call.attributes.real("value")]<class T>(T x) {
    return at_least(x, static_cast<T>(value));
  });
}

void run_clamp_max(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out, [value = call.attributes.real("value")]<class T>(T x) {
    return at_most(x, static_cast<T>(value));
  });
}

void run_add_scalar(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out,
      [value = call.attributes.real("value")]<class T>(T x) { return x + static_cast<T>(value); });
}

void run_sub_scalar(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out,
      [value = call.attributes.real("value")]<class T>(T x) { return x - static_cast<T>(value); });
}

void run_mul_scalar(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out,
      [value = call.attributes.real("value")]<class T>(T x) { return x * static_cast<T>(value); });
}

void run_div_scalar(const OperatorCall& call, Inputs in, Outputs out) {
  map(in, out,
      [value = call.attributes.real("value")]<class T>(T x) { return x / static_cast<T>(value); });
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
