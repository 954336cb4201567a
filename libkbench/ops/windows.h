// What convolution and pooling share: per-dimension options and the extent a sliding window leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "libkbench/ops/families.h"

namespace kbench {

/// One value for all dimensions, or one each.
inline std::vector<int64_t> per_dimension(const std::vector<int64_t>& values, size_t dims) {
  if (values.size() == 1) return std::vector<int64_t>(dims, values[0]);
  require_shape(values.size() == dims, "an option needs 1 or " + std::to_string(dims) +
                                           " values, got " + std::to_string(values.size()));
  return values;
}

/// floor((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
inline int64_t window_extent(int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                             int64_t dilation) {
  require_shape(kernel > 0 && stride > 0 && dilation > 0 && padding >= 0,
                "kernel, stride and dilation must be positive, padding not negative");
  const int64_t span = dilation * (kernel - 1) + 1;
  require_shape(in + 2 * padding >= span, "a window of extent " + std::to_string(span) +
                                              " does not fit an input of " + std::to_string(in) +
                                              " padded by " + std::to_string(padding));
  return (in + 2 * padding - span) / stride + 1;
}

}  // namespace kbench
