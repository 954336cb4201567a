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
/// y [outer, inner] = sqrt(the sum of squares along n).
template <class T>
void norm(const T* x, const Axis& axis, T* y);
/// The index of the first largest element along n; NaN is larger than any number.
template <class T>
void argmax(const T* x, const Axis& axis, int64_t* y);
/// The index of the first smallest element along n; NaN is smaller than any number.
template <class T>
void argmin(const T* x, const Axis& axis, int64_t* y);
/// The largest and the smallest element along n; NaN wins.
template <class T>
void max(const T* x, const Axis& axis, T* y);
template <class T>
void min(const T* x, const Axis& axis, T* y);
/// log(sum(exp(x))) along n.
template <class T>
void logsumexp(const T* x, const Axis& axis, T* y);
/// y [outer, n, inner]: running sums and products along n, accumulated in double.
template <class T>
void cumsum(const T* x, const Axis& axis, T* y);
template <class T>
void cumprod(const T* x, const Axis& axis, T* y);
/// exp(x - max) over its sum, along n. y may be x.
template <class T>
void softmax(const T* x, const Axis& axis, T* y);
/// x - max - log(sum(exp(x - max))), along n. y may be x.
template <class T>
void log_softmax(const T* x, const Axis& axis, T* y);

}  // namespace kbench::reference
