// Operators that move elements without computing on them: all are copies between strided views of
// elements of 1, 4 or 8 bytes, of any type.
#include <cstring>

#include "libkbench/core/dimensions.h"
#include "reference/arrays.h"
#include "reference/call.h"

namespace kbench::reference {
namespace {

/// Calls body(from offset, to offset, index of the last dimension) for every index over `dims`.
template <class Body>
void for_each_index(const std::vector<Dimension>& dims, int64_t work, const Body& body) {
  int64_t count = 1;
  for (const Dimension& dim : dims) count *= dim.extent;
  parallel_blocks(count, grain_of(work), [&](int64_t begin, int64_t end) {
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

/// to[j * row.b + i] = from[i * column.a + j]: neighbours in one are far apart in the other, so
/// that square blocks are copied, whose lines stay in the cache until they are used up.
template <class T>
void transpose(const T* from, const Dimension& row, const Dimension& column, T* to) {
  constexpr int64_t kSide = 64 / sizeof(T);
  for (int64_t j = 0; j < row.extent; j += kSide) {
    const int64_t rows = std::min(kSide, row.extent - j);
    for (int64_t i = 0; i < column.extent; i += kSide) {
      const int64_t columns = std::min(kSide, column.extent - i);
      table(to + j * row.b + i, rows, columns, row.b) =
          table(from + i * column.a + j, columns, rows, column.a).transpose();
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
    dims.push_back({(row.extent + kStrip - 1) / kStrip, kStrip * row.a, kStrip * row.b});
    return for_each_index(dims, kStrip * inner.extent, [&](int64_t x, int64_t y, int64_t strip) {
      const int64_t rows = std::min(kStrip, row.extent - strip * kStrip);
      transpose(from + x, {rows, row.a, row.b}, inner, to + y);
    });
  }
  for_each_index(dims, inner.extent / 4, [&](int64_t x, int64_t y, int64_t) {
    if (inner.a == 1 && inner.b == 1) {
      std::copy_n(from + x, inner.extent, to + y);
    } else {
      for (int64_t i = 0; i < inner.extent; ++i) to[y + i * inner.b] = from[x + i * inner.a];
    }
  });
}

/// Elements of a dense tensor: the first one, and for each dimension how many elements neighbours
/// are apart, negative in a reversed dimension and 0 in a repeated one. Begins as the whole tensor
/// and is moved by its methods, none of which copies.
template <class Byte>
struct View {
  Byte* first;
  std::vector<int64_t> strides;
  int64_t element;  ///< bytes

  /// Begins `count` elements further along the axis.
  View& skip(int64_t axis, int64_t count) {
    first += count * strides[axis] * element;
    return *this;
  }
  View& step(int64_t axis, int64_t factor) {
    strides[axis] *= factor;
    return *this;
  }
};

View<const std::byte> view(const Tensor& t) {
  return {t.raw(), strides_of(t.shape()), static_cast<int64_t>(size_of(t.dtype()))};
}
View<std::byte> view(Tensor& t) {
  return {t.raw(), strides_of(t.shape()), static_cast<int64_t>(size_of(t.dtype()))};
}

/// to[i, j, ...] = from[i, j, ...] for every index below `extents`; the views must not overlap.
void copy(const Shape& extents, const View<const std::byte>& from, const View<std::byte>& to) {
  std::vector<Dimension> dims;
  for (size_t i = 0; i < extents.size(); ++i) {
    dims.push_back({extents[i], from.strides[i], to.strides[i]});
  }
  dims = merged(dims);
  if (dims.empty()) dims.push_back({1, 1, 1});
  const auto copy_as = [&]<class T>() {
    copy_elements(dims, reinterpret_cast<const T*>(from.first), reinterpret_cast<T*>(to.first));
  };
  switch (to.element) {
    case 1:
      return copy_as.template operator()<uint8_t>();
    case 4:
      return copy_as.template operator()<uint32_t>();
    case 8:
      return copy_as.template operator()<uint64_t>();
    default:
      throw Error(ErrorCode::kInternal,
                  "the reference copies no elements of " + std::to_string(to.element) + " bytes");
  }
}

Shape with_extent(Shape shape, int64_t axis, int64_t extent) {
  shape[axis] = extent;
  return shape;
}

/// Rows of the last two dimensions' matrices: `keep(row)` is the range of columns that stays.
template <class Keep>
void triangle(Inputs in, Outputs out, const Keep& keep) {
  const Shape& x = in[0].shape();
  const int64_t columns = x.back(), rows = x[x.size() - 2];
  with_type(out[0], [&]<class T>() {
    const int64_t all = in[0].elements() / columns;
    parallel_blocks(all, grain_of(columns / 4), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto [first, last] = keep(std::min(i % rows, columns), columns);
        auto to = array(result<T>(out) + i * columns, columns);
        to.head(first).setZero();
        to.segment(first, last - first) =
            array(elements<T>(in, 0) + i * columns + first, last - first);
        to.tail(columns - last).setZero();
      }
    });
  });
}

/// The second input, which chooses among the first one's rows or elements.
const int64_t* indices_below(int64_t count, const OperatorCall& call, Inputs in) {
  const int64_t* index = elements<int64_t>(in, 1);
  for (int64_t i = 0; i < in[1].elements(); ++i) {
    if (index[i] >= 0 && index[i] < count) continue;
    throw Error(ErrorCode::kInvalidArgument, call.op->name + ": index[" + std::to_string(i) +
                                                 "] is " + std::to_string(index[i]) +
                                                 ", not one of " + std::to_string(count));
  }
  return index;
}

}  // namespace

void run_permute(const OperatorCall& call, Inputs in, Outputs out) {
  auto from = view(in[0]);
  std::vector<int64_t> strides;
  for (int64_t axis : call.attributes.list("axes")) strides.push_back(from.strides[axis]);
  from.strides = strides;
  copy(out[0].shape(), from, view(out[0]));
}

void run_slice(const OperatorCall& call, Inputs in, Outputs out) {
  const int64_t axis = axis_index(call);
  const int64_t start = call.attributes.integer("start"), step = call.attributes.integer("step");
  copy(out[0].shape(), view(in[0]).skip(axis, start).step(axis, step), view(out[0]));
}

void run_cat(const OperatorCall& call, Inputs in, Outputs out) {
  const int64_t axis = axis_index(call);
  int64_t at = 0;
  for (const Tensor& x : in) {
    copy(x.shape(), view(x), view(out[0]).skip(axis, at));
    at += x.shape()[axis];
  }
}

void run_pad(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& shape = in[0].shape();
  const int64_t axis = axis_index(call), extent = shape[axis];
  const int64_t before = call.attributes.integer("before");
  const int64_t after = call.attributes.integer("after");
  auto zeros = view(in[0]);  // one zero of any type, repeated
  const uint64_t zero = 0;
  zeros.first = reinterpret_cast<const std::byte*>(&zero);
  zeros.strides.assign(shape.size(), 0);
  if (before > 0) copy(with_extent(shape, axis, before), zeros, view(out[0]));
  copy(shape, view(in[0]), view(out[0]).skip(axis, before));
  if (after > 0) {
    copy(with_extent(shape, axis, after), zeros, view(out[0]).skip(axis, before + extent));
  }
}

void run_roll(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& shape = in[0].shape();
  const int64_t axis = axis_index(call), extent = shape[axis];
  const int64_t shift = (call.attributes.integer("shift") % extent + extent) % extent;
  copy(with_extent(shape, axis, extent - shift), view(in[0]), view(out[0]).skip(axis, shift));
  if (shift == 0) return;
  copy(with_extent(shape, axis, shift), view(in[0]).skip(axis, extent - shift), view(out[0]));
}

void run_flip(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& shape = in[0].shape();
  const int64_t axis = axis_index(call);
  copy(shape, view(in[0]).skip(axis, shape[axis] - 1).step(axis, -1), view(out[0]));
}

void run_expand(const OperatorCall&, Inputs in, Outputs out) {
  const Shape& shape = in[0].shape();
  auto from = view(in[0]);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) from.strides[i] = 0;
  }
  from.strides.insert(from.strides.begin(), out[0].shape().size() - shape.size(), 0);
  copy(out[0].shape(), from, view(out[0]));
}

void run_triu(const OperatorCall&, Inputs in, Outputs out) {
  triangle(in, out, [](int64_t diagonal, int64_t columns) { return std::pair(diagonal, columns); });
}

void run_tril(const OperatorCall&, Inputs in, Outputs out) {
  triangle(in, out, [](int64_t diagonal, int64_t columns) {
    return std::pair(int64_t{0}, std::min(diagonal + 1, columns));
  });
}

void run_index_rows(const OperatorCall& call, Inputs in, Outputs out) {
  const int64_t rows = in[0].shape()[0], columns = in[0].shape()[1];
  const int64_t* index = indices_below(rows, call, in);
  with_type(out[0], [&]<class T>() {
    parallel_blocks(in[1].elements(), grain_of(columns / 4), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        std::copy_n(elements<T>(in, 0) + index[i] * columns, columns, result<T>(out) + i * columns);
      }
    });
  });
}

void run_gather(const OperatorCall& call, Inputs in, Outputs out) {
  const int64_t from = in[0].shape().back(), to = in[1].shape().back();
  const int64_t* index = indices_below(from, call, in);
  with_type(out[0], [&]<class T>() {
    parallel_blocks(in[1].elements(), grain_of(1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        result<T>(out)[i] = elements<T>(in, 0)[i / to * from + index[i]];
      }
    });
  });
}

}  // namespace kbench::reference
