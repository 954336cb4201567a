// Which outputs of a sliding window read inside the input.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kbench::reference {

struct Range {
  int64_t begin = 0, end = 0;
};

/// Outputs o in [0, out) for which 0 <= o * stride + offset < in; empty ranges have begin == end.
inline Range inside(int64_t offset, int64_t stride, int64_t in, int64_t out) {
  const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t last = in > offset ? (in - offset - 1) / stride + 1 : 0;
  const int64_t begin = std::min(first, out);
  return {begin, std::max(begin, std::min(last, out))};
}

}  // namespace kbench::reference
