#include "libkbench/core/dimensions.h"

namespace kbench {

std::vector<Dimension> broadcast_dimensions(const Shape& a, const Shape& b, const Shape& out) {
  std::vector<Dimension> dims(out.size());
  int64_t a_step = 1, b_step = 1;  // what the next dimension's strides would be
  for (size_t back = 1; back <= out.size(); ++back) {
    const int64_t a_extent = back <= a.size() ? a[a.size() - back] : 1;
    const int64_t b_extent = back <= b.size() ? b[b.size() - back] : 1;
    dims[out.size() - back] = {out[out.size() - back], a_extent == 1 ? 0 : a_step,
                               b_extent == 1 ? 0 : b_step};
    a_step *= a_extent;
    b_step *= b_extent;
  }
  return dims;
}

std::vector<Dimension> merged(const std::vector<Dimension>& dims) {
  std::vector<Dimension> result;
  for (const Dimension& dim : dims) {
    if (dim.extent == 1) continue;
    const bool joins = !result.empty() && result.back().a == dim.a * dim.extent &&
                       result.back().b == dim.b * dim.extent;
    if (joins) {
      result.back() = {result.back().extent * dim.extent, dim.a, dim.b};
    } else {
      result.push_back(dim);
    }
  }
  return result;
}

}  // namespace kbench
