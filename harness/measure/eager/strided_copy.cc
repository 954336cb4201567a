#include "harness/measure/eager/strided_copy.h"

#include <algorithm>

#include "harness/measure/eager/planning.h"
#include "kbench/error.h"

namespace kbench::eager {
namespace {

constexpr int64_t kTile = 32, kTileRows = 8;
constexpr int64_t kLeastTransposed = 8;  // extents below leave most of a tile empty
constexpr size_t kMostDims = 6;

/// In as few dimensions as possible; never empty.
CopyDims joined(const CopyDims& dims) {
  CopyDims result = merged(dims);
  if (result.empty()) result.push_back({1, 1, 1});
  if (result.size() > kMostDims) {
    throw Error(ErrorCode::kUnsupported,
                "the eager copy takes at most 6 dimensions that do not merge, got " +
                    std::to_string(result.size()));
  }
  return result;
}

Launch& add_stride(Launch& launch, int64_t stride) {
  if (stride > INT32_MAX) {
    throw Error(ErrorCode::kUnsupported,
                launch.shader + ": a stride of " + std::to_string(stride) + " elements");
  }
  return launch.add(stride);
}

void add_outer(Launch& launch, const CopyDims& dims) {
  for (const Dimension& dim : dims) launch.add(dim.extent);
  for (const Dimension& dim : dims) add_stride(launch, dim.a);
  for (const Dimension& dim : dims) add_stride(launch, dim.b);
}

Launch transposed(CopyDims dims, size_t contiguous, LaunchOperand from, LaunchOperand to,
                  const DeviceTraits& traits) {
  const Dimension x = dims[contiguous], y = dims.back();
  dims.pop_back();
  dims.erase(dims.begin() + static_cast<int64_t>(contiguous));
  std::reverse(dims.begin(), dims.end());
  const int64_t x_tiles = ceil_div(x.extent, kTile), y_tiles = ceil_div(y.extent, kTile);
  int64_t groups = x_tiles * y_tiles;
  for (const Dimension& dim : dims) groups *= dim.extent;
  Launch launch = make_launch(
      "transpose.comp",
      {{"TILE", kTile}, {"ROWS", kTileRows}, {"OUTER", static_cast<int64_t>(dims.size())}},
      {from, to}, groups, traits);
  launch.add(x.extent).add(y.extent);
  add_stride(launch, y.a);
  add_stride(launch, x.b);
  launch.add(x_tiles).add(y_tiles).add(groups);
  add_outer(launch, dims);
  return launch;
}

}  // namespace

Launch copy_launch(const CopyDims& list, LaunchOperand from, LaunchOperand to,
                   const DeviceTraits& traits) {
  CopyDims dims = joined(list);
  const Dimension inner = dims.back();
  if (inner.b == 1 && inner.a != 1 && inner.extent >= kLeastTransposed) {
    for (size_t d = 0; d + 1 < dims.size(); ++d) {
      if (dims[d].a == 1 && dims[d].extent >= kLeastTransposed) {
        return transposed(dims, d, from, to, traits);
      }
    }
  }
  dims.pop_back();
  std::reverse(dims.begin(), dims.end());
  bool quads = inner.a == 1 && inner.b == 1 && inner.extent % 4 == 0 && from.offset % 4 == 0 &&
               to.offset % 4 == 0;
  int64_t rows = 1;
  for (const Dimension& dim : dims) {
    quads = quads && dim.a % 4 == 0 && dim.b % 4 == 0;
    rows *= dim.extent;
  }
  const int64_t row_pieces = inner.extent / (quads ? 4 : 1), pieces = rows * row_pieces;
  const int64_t groups = ceil_div(pieces, kThreads * kPieces);
  Launch launch = make_launch("copy.comp",
                              {{"THREADS", kThreads},
                               {"PIECES", kPieces},
                               {"WIDTH", quads ? 4 : 1},
                               {"OUTER", static_cast<int64_t>(dims.size())}},
                              {from, to}, groups, traits);
  launch.add(pieces).add(row_pieces).add(groups);
  add_stride(launch, inner.a);
  add_stride(launch, inner.b);
  add_outer(launch, dims);
  return launch;
}

}  // namespace kbench::eager
