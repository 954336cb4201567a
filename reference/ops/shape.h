// Operators that move elements without computing on them: all are copies between strided views.
// They work on elements of 1, 4 or 8 bytes, whatever the type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kbench/tensor.h"

namespace kbench::reference {

/// Elements of a tensor: the first one, and for each dimension how far apart neighbours are (in
/// elements; negative in a reversed dimension, 0 in a repeated one).
template <class Byte>
struct StridedView {
  Byte* first = nullptr;
  std::vector<int64_t> strides;
};

/// to[i, j, ...] = from[i, j, ...] for every index below `extents`; the views must not overlap.
void copy_view(size_t element_size, const Shape& extents, const StridedView<const std::byte>& from,
               const StridedView<std::byte>& to);

/// The matrices of x [count, rows, columns] with zeros below (upper) or above the diagonal.
template <class T>
void triangle(bool upper, const T* x, int64_t count, int64_t rows, int64_t columns, T* y);

/// y[i, :] = table[index[i], :]; throws kInvalidArgument when an index is not one of `rows`.
template <class T>
void index_rows(const T* table, int64_t rows, int64_t columns, const int64_t* index, int64_t count,
                T* y);

}  // namespace kbench::reference
