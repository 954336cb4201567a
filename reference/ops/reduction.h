// Reductions, scans and softmax along one dimension. A tensor is seen as [outer, n, inner], n being
// the dimension's extent; one or more elements in each.
#pragma once

#include <cstdint>

#include "kbench/tensor.h"

namespace kbench::reference {

struct Axis {
  int64_t outer = 1, n = 1, inner = 1;
};
/// `axis` of the shape as an Axis; it must lie inside the shape.
Axis axis_of(const Shape& shape, int64_t axis);

/// y [outer, inner] = scale * the sum along n, accumulated in double.
template <class T>
void sum(const T* x, const Axis& axis, double scale, T* y);
/// The index of the first largest element along n; NaN is larger than any number.
template <class T>
void argmax(const T* x, const Axis& axis, int64_t* y);
/// y [outer, n, inner]: running sums along n, accumulated in double.
template <class T>
void cumsum(const T* x, const Axis& axis, T* y);
/// exp(x - max) over its sum, along n. y may be x.
template <class T>
void softmax(const T* x, const Axis& axis, T* y);

}  // namespace kbench::reference
