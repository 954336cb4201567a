// Dimensions that two operands are walked along together, in as few as possible.
#pragma once

#include <cstdint>
#include <vector>

#include "kbench/tensor.h"

namespace kbench {

/// One dimension, and how many elements each operand moves a step along it.
struct Dimension {
  int64_t extent = 1;
  int64_t a = 1, b = 1;  ///< strides; 0 where the operand repeats, negative where it runs backwards
  bool operator==(const Dimension&) const = default;
};

/// The dimensions of `out`, outermost first, with the strides of contiguous operands that are
/// broadcast to it as NumPy does.
std::vector<Dimension> broadcast_dimensions(const Shape& a, const Shape& b, const Shape& out);

/// `dims`, outermost first, without extents of 1 and with neighbours joined where both operands run
/// on from one into the other. Empty where all extents are 1.
std::vector<Dimension> merged(const std::vector<Dimension>& dims);

}  // namespace kbench
