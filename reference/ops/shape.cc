#include "reference/ops/shape.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "kbench/error.h"
#include "libkbench/src/dimensions.h"
#include "reference/parallel.h"

namespace kbench::reference {
namespace {

/// The dimensions of a copy from `a` to `b`, as few as possible; never empty.
std::vector<Dimension> copy_dimensions(const Shape& extents, const std::vector<int64_t>& from,
                                       const std::vector<int64_t>& to) {
  std::vector<Dimension> dims;
  for (size_t i = 0; i < extents.size(); ++i) dims.push_back({extents[i], from[i], to[i]});
  dims = merged(dims);
  if (dims.empty()) dims.push_back({1, 1, 1});
  return dims;
}

/// Calls body(from offset, to offset, index of the last dimension) for every index over `dims`, in
/// parallel.
template <class Body>
void for_each_index(const std::vector<Dimension>& dims, int64_t work, const Body& body) {
  int64_t count = 1;
  for (const Dimension& dim : dims) count *= dim.extent;
  parallel_for(count, grain_of(work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i, from = 0, to = 0;
      const int64_t last = dims.empty() ? 0 : i % dims.back().extent;
      for (size_t d = dims.size(); d-- > 0; rest /= dims[d].extent) {
        from += rest % dims[d].extent * dims[d].a;
        to += rest % dims[d].extent * dims[d].b;
      }
      body(from, to, last);
    }
  });
}

template <class T>
void copy_row(const T* from, const Dimension& dim, T* to) {
  if (dim.a == 1 && dim.b == 1) {
    std::memcpy(to, from, static_cast<size_t>(dim.extent) * sizeof(T));
  } else if (dim.b == 1) {
    for (int64_t i = 0; i < dim.extent; ++i) to[i] = from[i * dim.a];
  } else {
    for (int64_t i = 0; i < dim.extent; ++i) to[i * dim.b] = from[i * dim.a];
  }
}

/// to[j * row.b + i] = from[i * column.a + j]: neighbours in one are far apart in the other, so
/// that square blocks are copied, whose lines stay in the cache until they are used up.
template <class T>
void transpose(const T* from, const Dimension& row, const Dimension& column, T* to) {
  constexpr int64_t kBlock = 64 / sizeof(T);
  T block[kBlock][kBlock];
  for (int64_t j = 0; j < row.extent; j += kBlock) {
    const int64_t rows = std::min(kBlock, row.extent - j);
    for (int64_t i = 0; i < column.extent; i += kBlock) {
      const int64_t columns = std::min(kBlock, column.extent - i);
      for (int64_t b = 0; b < columns; ++b) {
        const T* line = from + (i + b) * column.a + j;
        for (int64_t a = 0; a < rows; ++a) block[a][b] = line[a];
      }
      for (int64_t a = 0; a < rows; ++a) {
        std::memcpy(to + (j + a) * row.b + i, block[a], static_cast<size_t>(columns) * sizeof(T));
      }
    }
  }
}

template <class T>
void copy_elements(std::vector<Dimension> dims, const T* from, T* to) {
  const Dimension inner = dims.back();
  dims.pop_back();
  const auto across =
      std::find_if(dims.begin(), dims.end(), [](const Dimension& dim) { return dim.a == 1; });
  constexpr int64_t kWorthBlocks = 4;
  if (inner.b == 1 && inner.a != 1 && inner.extent >= kWorthBlocks && across != dims.end() &&
      across->extent >= kWorthBlocks) {
    const Dimension row = *across;
    dims.erase(across);
    // Strips of the row dimension are dealt out too: there may be no other dimension.
    constexpr int64_t kStrip = 64;
    const int64_t strips = (row.extent + kStrip - 1) / kStrip;
    dims.push_back({strips, kStrip * row.a, kStrip * row.b});
    return for_each_index(dims, kStrip * inner.extent, [&](int64_t x, int64_t y, int64_t strip) {
      const int64_t rows = std::min(kStrip, row.extent - strip * kStrip);
      transpose(from + x, {rows, row.a, row.b}, inner, to + y);
    });
  }
  for_each_index(dims, inner.extent / 4,
                 [&](int64_t x, int64_t y, int64_t) { copy_row(from + x, inner, to + y); });
}

}  // namespace

void copy_view(size_t element_size, const Shape& extents, const StridedView<const std::byte>& from,
               const StridedView<std::byte>& to) {
  std::vector<Dimension> dims = copy_dimensions(extents, from.strides, to.strides);
  const auto copy = [&]<class T>() {
    copy_elements(std::move(dims), reinterpret_cast<const T*>(from.first),
                  reinterpret_cast<T*>(to.first));
  };
  switch (element_size) {
    case 1:
      return copy.template operator()<uint8_t>();
    case 4:
      return copy.template operator()<uint32_t>();
    case 8:
      return copy.template operator()<uint64_t>();
    default:
      throw Error(ErrorCode::kInternal,
                  "the reference copies no elements of " + std::to_string(element_size) + " bytes");
  }
}

template <class T>
void triangle(bool upper, const T* x, int64_t count, int64_t rows, int64_t columns, T* y) {
  parallel_for(count * rows, grain_of(columns / 4), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* from = x + i * columns;
      T* to = y + i * columns;
      const int64_t diagonal = std::min(i % rows, columns);
      const int64_t split = upper ? diagonal : std::min(diagonal + 1, columns);
      if (upper) {
        std::fill(to, to + split, T(0));
        std::copy(from + split, from + columns, to + split);
      } else {
        std::copy(from, from + split, to);
        std::fill(to + split, to + columns, T(0));
      }
    }
  });
}

template <class T>
void index_rows(const T* table, int64_t rows, int64_t columns, const int64_t* index, int64_t count,
                T* y) {
  for (int64_t i = 0; i < count; ++i) {
    if (index[i] < 0 || index[i] >= rows) {
      throw Error(ErrorCode::kInvalidArgument, "index_rows: index[" + std::to_string(i) + "] is " +
                                                   std::to_string(index[i]) + ", not one of " +
                                                   std::to_string(rows) + " rows");
    }
  }
  parallel_for(count, grain_of(columns / 4), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::copy_n(table + index[i] * columns, columns, y + i * columns);
    }
  });
}

#define KBENCH_INSTANTIATE(T)                                               \
  template void triangle<T>(bool, const T*, int64_t, int64_t, int64_t, T*); \
  template void index_rows<T>(const T*, int64_t, int64_t, const int64_t*, int64_t, T*);
KBENCH_INSTANTIATE(float)
KBENCH_INSTANTIATE(double)
#undef KBENCH_INSTANTIATE

}  // namespace kbench::reference
