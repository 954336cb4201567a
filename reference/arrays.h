// Plain memory as Eigen's arrays. Expressions are evaluated in blocks that follow from the extents
// alone, so that an element's bits depend neither on threads nor on addresses.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "reference/parallel.h"

namespace kbench::reference {

using Eigen::Dynamic;

/// Elements that stand together.
template <class T>
using Array = Eigen::Array<T, Dynamic, 1>;

template <class T, class Plain>
using MapOf = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;

/// n elements from x on.
template <class T>
auto array(T* x, int64_t n) {
  return Eigen::Map<MapOf<T, Array<std::remove_const_t<T>>>>(x, n);
}

/// Every step-th element from x on, n of them.
template <class T>
auto array(T* x, int64_t n, int64_t step) {
  return Eigen::Map<MapOf<T, Array<std::remove_const_t<T>>>, 0, Eigen::InnerStride<>>(
      x, n, Eigen::InnerStride<>(step));
}

/// Rows that begin `pitch` elements apart.
template <class T>
auto table(T* x, int64_t rows, int64_t columns, int64_t pitch) {
  using Plain = Eigen::Array<std::remove_const_t<T>, Dynamic, Dynamic, Eigen::RowMajor>;
  return Eigen::Map<MapOf<T, Plain>, 0, Eigen::OuterStride<>>(x, rows, columns,
                                                              Eigen::OuterStride<>(pitch));
}

// --- elements ------------------------------------------------------------------------------------

/// The larger and the smaller of two, NaN where either is.
template <class A, class B, class T = typename A::Scalar>
auto larger(const A& a, const B& b) {
  return a.binaryExpr(b, Eigen::internal::scalar_max_op<T, T, Eigen::PropagateNaN>());
}
template <class A, class B, class T = typename A::Scalar>
auto smaller(const A& a, const B& b) {
  return a.binaryExpr(b, Eigen::internal::scalar_min_op<T, T, Eigen::PropagateNaN>());
}
template <class X>
auto at_least(const X& x, typename X::Scalar low) {
  return larger(x, X::PlainObject::Constant(x.rows(), x.cols(), low));
}
template <class X>
auto at_most(const X& x, typename X::Scalar high) {
  return smaller(x, X::PlainObject::Constant(x.rows(), x.cols(), high));
}

/// e to the x, as the square of e to the x / 2: Eigen's exp() does not go below the smallest normal
/// number, not even for -inf.
template <class X>
auto exponential(const X& x) {
  return (x * typename X::Scalar(0.5)).exp().square();
}

template <class X>
auto logistic(const X& x) {
  using T = typename X::Scalar;
  return (exponential(-x) + T(1)).inverse();
}

// --- blocks --------------------------------------------------------------------------------------

/// Elements that stay in the first-level cache.
constexpr int64_t kBlock = 1024;

/// Up to kBlock elements, filled up to whole vectors and aligned. In other arrays Eigen computes
/// the elements before an aligned address and at the end one by one, where exp, log, tanh and erf
/// round differently than in vectors.
template <class T>
using Block = Eigen::Array<T, Dynamic, 1, 0, kBlock, 1>;

/// A block's elements where they lie, in a Block or in a tensor.
template <class T>
using Whole = Eigen::Map<const Array<T>, Eigen::AlignedMax>;

template <class T>
Block<T> block_of(const T* x, int64_t n, T fill) {
  constexpr int64_t kVector = 64 / sizeof(T);
  Block<T> block((n + kVector - 1) / kVector * kVector);
  block.head(n) = array(x, n);
  block.tail(block.size() - n).setConstant(fill);
  return block;
}

/// The natural logarithm. Eigen's treats subnormal numbers as the smallest normal one.
template <class X, class T = typename X::Scalar>
Block<T> logarithm(const X& x) {
  constexpr T kNormal = std::numeric_limits<T>::min();
  const Block<T> y = x.log();
  if (x.template minCoeff<Eigen::PropagateNaN>() >= kNormal) return y;
  return (x < kNormal).select(x.unaryExpr([](T v) { return std::log(v); }), y);
}

// --- sums ----------------------------------------------------------------------------------------

/// A total that an expression's elements are added to one after another, in their own type.
template <class X>
typename X::Scalar sum_in_turn(const X& x, typename X::Scalar total) {
  for (int64_t i = 0; i < x.size(); ++i) total += x.coeff(i);
  return total;
}

/// The sum of an expression's elements: of 128 in their own type, of such sums in double; or of all
/// in their own type, one after another.
template <class X>
double sum(const X& x) {
  if (is_sequential()) return sum_in_turn(x, typename X::Scalar(0));
  constexpr int64_t kTogether = 128;
  // Of a product, since Eigen begins to read an array in memory at an aligned address.
  const auto terms = x * typename X::Scalar(1);
  double total = 0;
  for (int64_t i = 0; i < x.size(); i += kTogether) {
    total += terms.segment(i, std::min<int64_t>(kTogether, x.size() - i)).sum();
  }
  return total;
}

/// The sum of part(begin, end) over blocks of [0, n), in parallel and added up in order.
template <class Part>
double parallel_sum(int64_t n, int64_t block, const Part& part) {
  std::vector<double> parts((n + block - 1) / block);
  parallel_blocks(n, block,
                  [&](int64_t begin, int64_t end) { parts[begin / block] = part(begin, end); });
  return sum(array(parts.data(), static_cast<int64_t>(parts.size())));
}

/// The sum of exp(x[i] - max) over a row, the terms in y where it is not null.
template <class T>
double exponential_sum(const T* x, int64_t n, T max, T* y = nullptr) {
  double total = 0;
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min(kBlock, n - i);
    Block<T> terms = block_of(x + i, count, -std::numeric_limits<T>::infinity());
    terms = exponential(terms - max);
    total = is_sequential() ? sum_in_turn(terms.head(count), static_cast<T>(total))
                            : total + sum(terms.head(count));
    if (y != nullptr) array(y + i, count) = terms.head(count);
  }
  return total;
}

}  // namespace kbench::reference
