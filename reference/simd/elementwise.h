// Elementwise kernels: plain loops that the compiler vectorises. `ivdep` holds in place too, since
// every element depends on its own position only.
#pragma once

#include "reference/simd/kernels.h"
#include "reference/simd/math.h"

namespace kbench::reference::KBENCH_ISA {

template <class T, class F>
inline void map(const T* x, T* y, int64_t n, F f) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
}

template <class T>
void unary(Unary op, T value, const T* x, T* y, int64_t n) {
  switch (op) {
    case Unary::relu:  // not x > 0 ? x : 0, which would lose NaN
      return map(x, y, n, [](T v) { return v < T(0) ? T(0) : v; });
    case Unary::leaky_relu:
      return map(x, y, n, [=](T v) { return v > T(0) ? v : v * value; });
    case Unary::sigmoid:
      return map(x, y, n, [](T v) { return sigmoid(v); });
    case Unary::gelu:
      return map(x, y, n, [](T v) { return gelu(v); });
    case Unary::square:
      return map(x, y, n, [](T v) { return v * v; });
    case Unary::sqrt:
      return map(x, y, n, [](T v) { return sqrt(v); });
    case Unary::exp:
      return map(x, y, n, [](T v) { return exp(v); });
    case Unary::log:
      return map(x, y, n, [](T v) { return log(v); });
    case Unary::erf:
      return map(x, y, n, [](T v) { return erf(v); });
    case Unary::tanh:
      return map(x, y, n, [](T v) { return tanh(v); });
    case Unary::selu:
      return map(x, y, n, [](T v) { return selu(v); });
    case Unary::elu:
      return map(x, y, n, [=](T v) { return v > T(0) ? v : value * expm1_below(v); });
    case Unary::softplus:
      return map(x, y, n, [](T v) { return softplus(v); });
    case Unary::mish:
      return map(x, y, n, [](T v) { return mish(v); });
    case Unary::hardsigmoid:
      return map(x, y, n, [](T v) { return hardsigmoid(v); });
    case Unary::hardswish:
      return map(x, y, n, [](T v) { return v * hardsigmoid(v); });
    case Unary::abs:
      return map(x, y, n, [](T v) { return abs(v); });
    case Unary::neg:
      return map(x, y, n, [](T v) { return -v; });
    case Unary::clamp_min:  // comparisons with NaN are false and leave it
      return map(x, y, n, [=](T v) { return v < value ? value : v; });
    case Unary::clamp_max:
      return map(x, y, n, [=](T v) { return v > value ? value : v; });
    case Unary::add:
      return map(x, y, n, [=](T v) { return v + value; });
    case Unary::sub:
      return map(x, y, n, [=](T v) { return v - value; });
    case Unary::mul:
      return map(x, y, n, [=](T v) { return v * value; });
    case Unary::div:
      return map(x, y, n, [=](T v) { return v / value; });
  }
}

/// Calls loop with the operator as a function of two scalars.
template <class T, class Loop>
inline void with_binary(Binary op, Loop loop) {
  switch (op) {
    case Binary::add:
      return loop([](T a, T b) { return a + b; });
    case Binary::sub:
      return loop([](T a, T b) { return a - b; });
    case Binary::mul:
      return loop([](T a, T b) { return a * b; });
    case Binary::div:
      return loop([](T a, T b) { return a / b; });
    case Binary::maximum:
      return loop([](T a, T b) { return ((a > b) | (a != a)) ? a : b; });
    case Binary::minimum:
      return loop([](T a, T b) { return ((a < b) | (a != a)) ? a : b; });
  }
}

template <class T>
void binary(Binary op, const T* a, const T* b, T* y, int64_t n) {
  with_binary<T>(op, [=](auto f) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
  });
}

template <class T>
void binary_right(Binary op, const T* a, T b, T* y, int64_t n) {
  with_binary<T>(op, [=](auto f) { map(a, y, n, [=](T v) { return f(v, b); }); });
}

template <class T>
void binary_left(Binary op, T a, const T* b, T* y, int64_t n) {
  with_binary<T>(op, [=](auto f) { map(b, y, n, [=](T v) { return f(a, v); }); });
}

template <class T>
void affine(const T* x, T mean, T scale, T shift, T* y, int64_t n) {
  map(x, y, n, [=](T v) { return (v - mean) * scale + shift; });
}

template <class T>
void affine_each(const T* x, T mean, T scale, const T* weight, const T* bias, T* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

}  // namespace kbench::reference::KBENCH_ISA
