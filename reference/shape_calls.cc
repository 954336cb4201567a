#include <numeric>

#include "reference/call.h"
#include "reference/ops/shape.h"

namespace kbench::reference {
namespace {

/// Part of a dense tensor, or of all its elements in another order: begins at the first element and
/// is moved by its methods, none of which copies.
template <class Byte>
class Part {
 public:
  Part(Byte* data, const TensorType& type)
      : view_{data, strides_of(type.shape)}, element_(size_of(type.dtype)) {}

  /// Begins `count` elements further along the axis.
  Part& skip(int64_t axis, int64_t count) {
    view_.first += count * view_.strides[axis] * static_cast<int64_t>(element_);
    return *this;
  }
  Part& step(int64_t axis, int64_t factor) {
    view_.strides[axis] *= factor;
    return *this;
  }
  StridedView<Byte>& view() { return view_; }

 private:
  StridedView<Byte> view_;
  size_t element_;
};

auto part(const Tensor& tensor) { return Part<const std::byte>(tensor.raw(), tensor.type()); }
auto part(Tensor& tensor) { return Part<std::byte>(tensor.raw(), tensor.type()); }

template <class From, class To>
void copy(const Tensor& like, const Shape& extents, From&& from, To&& to) {
  copy_view(size_of(like.dtype()), extents, from.view(), to.view());
}

Shape with_extent(Shape shape, int64_t axis, int64_t extent) {
  shape[axis] = extent;
  return shape;
}

void run_triangle(bool upper, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  const int64_t columns = x.back(), rows = x[x.size() - 2];
  with_type(out[0], [&]<class T>() {
    triangle<T>(upper, elements<T>(in, 0), in[0].elements() / (rows * columns), rows, columns,
                out[0].data<T>().data());
  });
}

}  // namespace

void run_permute(const OperatorCall& call, Inputs in, Outputs out) {
  auto from = part(in[0]);
  std::vector<int64_t> strides;
  for (int64_t axis : call.attributes.list("axes")) strides.push_back(from.view().strides[axis]);
  from.view().strides = strides;
  copy(in[0], out[0].shape(), from, part(out[0]));
}

void run_slice(const OperatorCall& call, Inputs in, Outputs out) {
  const int64_t axis = axis_index(call);
  copy(in[0], out[0].shape(),
       part(in[0])
           .skip(axis, call.attributes.integer("start"))
           .step(axis, call.attributes.integer("step")),
       part(out[0]));
}

void run_cat(const OperatorCall& call, Inputs in, Outputs out) {
  const int64_t axis = axis_index(call);
  int64_t at = 0;
  for (const Tensor& x : in) {
    copy(x, x.shape(), part(x), part(out[0]).skip(axis, at));
    at += x.shape()[axis];
  }
}

void run_pad(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& shape = in[0].shape();
  const int64_t axis = axis_index(call), extent = shape[axis];
  const int64_t before = call.attributes.integer("before");
  const int64_t after = call.attributes.integer("after");
  const uint64_t zero = 0;  // of any type
  const auto clear = [&](int64_t at, int64_t count) {
    if (count == 0) return;
    const StridedView<const std::byte> zeros = {reinterpret_cast<const std::byte*>(&zero),
                                                std::vector<int64_t>(shape.size(), 0)};
    copy_view(size_of(in[0].dtype()), with_extent(shape, axis, count), zeros,
              part(out[0]).skip(axis, at).view());
  };
  clear(0, before);
  copy(in[0], shape, part(in[0]), part(out[0]).skip(axis, before));
  clear(before + extent, after);
}

void run_roll(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& shape = in[0].shape();
  const int64_t axis = axis_index(call), extent = shape[axis];
  const int64_t shift = (call.attributes.integer("shift") % extent + extent) % extent;
  copy(in[0], with_extent(shape, axis, extent - shift), part(in[0]),
       part(out[0]).skip(axis, shift));
  if (shift == 0) return;
  copy(in[0], with_extent(shape, axis, shift), part(in[0]).skip(axis, extent - shift),
       part(out[0]));
}

void run_flip(const OperatorCall& call, Inputs in, Outputs out) {
  const int64_t axis = axis_index(call);
  copy(in[0], in[0].shape(), part(in[0]).skip(axis, in[0].shape()[axis] - 1).step(axis, -1),
       part(out[0]));
}

void run_expand(const OperatorCall&, Inputs in, Outputs out) {
  const Shape& shape = in[0].shape();
  auto from = part(in[0]);
  std::vector<int64_t>& strides = from.view().strides;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) strides[i] = 0;
  }
  strides.insert(strides.begin(), out[0].shape().size() - shape.size(), 0);
  copy(in[0], out[0].shape(), from, part(out[0]));
}

void run_triu(const OperatorCall&, Inputs in, Outputs out) { run_triangle(true, in, out); }
void run_tril(const OperatorCall&, Inputs in, Outputs out) { run_triangle(false, in, out); }

void run_index_rows(const OperatorCall&, Inputs in, Outputs out) {
  const Shape& table = in[0].shape();
  with_type(out[0], [&]<class T>() {
    index_rows<T>(elements<T>(in, 0), table[0], table[1], elements<int64_t>(in, 1),
                  in[1].elements(), out[0].data<T>().data());
  });
}

}  // namespace kbench::reference
