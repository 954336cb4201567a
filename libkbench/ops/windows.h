// Shared by convolution and pooling: per-dimension options and the extents a sliding window
// leaves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libkbench/ops/families.h"

namespace kbench {

/// A message for an option with the wrong number of values.
inline std::string wrong_values(size_t values, size_t dims) {
  return std::string("an option needs 1 ") +
         (dims > 1 ? "or " + std::to_string(dims) + " values" : "value") + ", got " +
         std::to_string(values);
}

/// One value for all dimensions, or one each.
inline std::vector<int64_t> per_dimension(const std::vector<int64_t>& values, size_t dims) {
  if (values.size() == 1) return std::vector<int64_t>(dims, values[0]);
  require_shape(values.size() == dims, wrong_values(values.size(), dims));
  return values;
}

/// Throws kShape, naming the operator and x, unless every option is as per_dimension takes it.
inline void require_options(const std::string& op, const Value& x, size_t dims,
                            const std::vector<std::vector<int64_t>>& options) {
  for (const auto& values : options) {
    require_for(op, x, values.size() == 1 || values.size() == dims,
                wrong_values(values.size(), dims));
  }
}

/// A window's options, one value a spatial dimension.
struct Window {
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool ceil_mode = false;

  /// Extent of dimension i: floor((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1; with
  /// ceil_mode the division rounds up, but the last window must start inside input or padding.
  int64_t extent(size_t i, int64_t in) const {
    require_shape(kernel[i] > 0 && stride[i] > 0 && dilation[i] > 0 && padding[i] >= 0,
                  "kernel, stride and dilation must be positive, padding not negative");
    const int64_t span = multiply_add(dilation[i], kernel[i] - 1, 1);
    const int64_t padded = multiply_add(2, padding[i], in);
    require_shape(padded >= span, "a window of extent " + std::to_string(span) +
                                      " does not fit an input of " + std::to_string(in) +
                                      " padded by " + std::to_string(padding[i]));
    const int64_t count = (padded - span) / stride[i] + 1;
    const bool left_over = (padded - span) % stride[i] != 0;
    // Another window would begin at count * stride - padding.
    return ceil_mode && left_over && in + padding[i] > multiply_add(count, stride[i], 0) ? count + 1
                                                                                         : count;
  }
};

/// "conv2d" from "conv" and 2.
inline std::string with_dimensions(const char* stem, size_t dims) {
  return stem + std::to_string(dims) + "d";
}

}  // namespace kbench
