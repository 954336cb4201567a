// Adapters from operator calls to the plain functions in reference/ops/, and the table of them all.
#include "reference/registry.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kbench/error.h"
#include "reference/ops/convolution.h"
#include "reference/ops/elementwise.h"
#include "reference/ops/loss.h"
#include "reference/ops/matmul.h"
#include "reference/ops/norm.h"
#include "reference/ops/pooling.h"
#include "reference/ops/reduction.h"

namespace kbench::reference {
namespace {

using Inputs = std::span<const Tensor>;
using Outputs = std::span<Tensor>;

/// Calls f.operator()<T>() with T the tensor's floating-point type.
template <class F>
void with_type(const Tensor& tensor, F f) {
  switch (tensor.dtype()) {
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    default:
      throw Error(ErrorCode::kInternal,
                  "the reference has no arithmetic on " + std::string(name_of(tensor.dtype())));
  }
}

/// The elements of input i, null where the call has none.
template <class T>
const T* elements(Inputs inputs, size_t i) {
  return i < inputs.size() ? inputs[i].data<T>().data() : nullptr;
}

std::array<int64_t, 2> pair(const OperatorCall& call, std::string_view name) {
  const auto& list = call.attributes.list(name);
  return {list.front(), list.back()};
}

/// The number a unary operator carries, under the name it declares; 0 where it has none.
double number(const OperatorCall& call) {
  return call.attributes.empty() ? 0 : call.attributes.real(call.attributes.begin()->first);
}

template <Unary op>
void run_unary(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    unary<T>(op, number(call), elements<T>(in, 0), out[0].data<T>().data(), out[0].elements());
  });
}

template <Binary op>
void run_binary(const OperatorCall&, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    binary<T>(op, elements<T>(in, 0), in[0].shape(), elements<T>(in, 1), in[1].shape(),
              out[0].data<T>().data(), out[0].shape());
  });
}

Axis call_axis(const OperatorCall& call) {
  const Shape& shape = call.inputs[0].shape;
  const int64_t axis = call.attributes.integer("axis");
  return axis_of(shape, axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis);
}

void run_sum(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    sum<T>(elements<T>(in, 0), call_axis(call), 1.0, out[0].data<T>().data());
  });
}

void run_mean(const OperatorCall& call, Inputs in, Outputs out) {
  const Axis axis = call_axis(call);
  with_type(out[0], [&]<class T>() {
    sum<T>(elements<T>(in, 0), axis, 1.0 / static_cast<double>(axis.n), out[0].data<T>().data());
  });
}

void run_argmax(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(in[0], [&]<class T>() {
    argmax<T>(elements<T>(in, 0), call_axis(call), out[0].data<int64_t>().data());
  });
}

void run_cumsum(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    cumsum<T>(elements<T>(in, 0), call_axis(call), out[0].data<T>().data());
  });
}

void run_softmax(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    softmax<T>(elements<T>(in, 0), call_axis(call), out[0].data<T>().data());
  });
}

/// For each product of the output's leading dimensions, which matrix of an input it reads.
std::vector<int64_t> matrix_index(const Shape& input, const Shape& output) {
  std::vector<int64_t> index = {0};
  int64_t stride = 1;
  for (size_t i = 2; i < output.size(); ++i) {  // from the innermost leading dimension
    const int64_t extent = output[output.size() - 1 - i];
    const int64_t own = i < input.size() ? input[input.size() - 1 - i] : 1;
    const auto inner = static_cast<int64_t>(index.size());
    index.resize(static_cast<size_t>(inner * extent));
    for (int64_t j = inner; j < inner * extent; ++j) {
      index[j] = index[j % inner] + (own == 1 ? 0 : j / inner * stride);
    }
    stride *= own;
  }
  return index;
}

void run_matmul(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& a = in[0].shape();
  const Shape& c = out[0].shape();
  Product product;
  product.transpose_a = call.attributes.flag("transpose_a");
  product.transpose_b = call.attributes.flag("transpose_b");
  product.m = c[c.size() - 2];
  product.n = c[c.size() - 1];
  product.k = a[a.size() - (product.transpose_a ? 2 : 1)];
  with_type(out[0], [&]<class T>() {
    matmul<T>(product, matrix_index(a, c), matrix_index(in[1].shape(), c), elements<T>(in, 0),
              elements<T>(in, 1), out[0].data<T>().data());
  });
}

void run_linear(const OperatorCall&, Inputs in, Outputs out) {
  const Shape& weight = in[1].shape();
  with_type(out[0], [&]<class T>() {
    linear<T>(elements<T>(in, 0), elements<T>(in, 1), elements<T>(in, 2),
              in[0].elements() / weight[1], weight[1], weight[0], out[0].data<T>().data());
  });
}

Window2d window_of(const OperatorCall& call, std::array<int64_t, 2> kernel) {
  return {kernel, pair(call, "stride"), pair(call, "padding"), pair(call, "dilation")};
}

void run_conv2d(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  const Shape& w = in[1].shape();
  const Shape& y = out[0].shape();
  const Conv2dExtents extents = {.batch = x[0],
                                 .channels = x[1],
                                 .out_channels = w[0],
                                 .groups = call.attributes.integer("groups"),
                                 .in = {x[2], x[3]},
                                 .out = {y[2], y[3]},
                                 .window = window_of(call, {w[2], w[3]})};
  with_type(out[0], [&]<class T>() {
    conv2d<T>(elements<T>(in, 0), elements<T>(in, 1), elements<T>(in, 2), extents,
              out[0].data<T>().data());
  });
}

void run_max_pool2d(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  const Shape& y = out[0].shape();
  with_type(out[0], [&]<class T>() {
    max_pool2d<T>(elements<T>(in, 0), x[0] * x[1], {x[2], x[3]},
                  window_of(call, pair(call, "kernel")), out[0].data<T>().data(), {y[2], y[3]});
  });
}

void run_batch_norm(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  with_type(out[0], [&]<class T>() {
    batch_norm<T>(elements<T>(in, 0), x[0], x[1], in[0].elements() / (x[0] * x[1]),
                  elements<T>(in, 1), elements<T>(in, 2), call.attributes.real("eps"),
                  out[0].data<T>().data());
  });
}

void run_layer_norm(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  const int64_t n = element_count(Shape(x.end() - call.attributes.integer("dims"), x.end()));
  with_type(out[0], [&]<class T>() {
    layer_norm<T>(elements<T>(in, 0), in[0].elements() / n, n, elements<T>(in, 1),
                  elements<T>(in, 2), call.attributes.real("eps"), out[0].data<T>().data());
  });
}

void run_cross_entropy(const OperatorCall&, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  with_type(out[0], [&]<class T>() {
    out[0].data<T>()[0] =
        cross_entropy<T>(elements<T>(in, 0), elements<int64_t>(in, 1), x[0], x[1]);
  });
}

constexpr bool kInPlace = true;

/// Sorted by name.
constexpr Implementation kImplementations[] = {
    {"add", run_binary<Binary::add>, kInPlace},
    {"add_scalar", run_unary<Unary::add>, kInPlace},
    {"argmax", run_argmax},
    {"batch_norm", run_batch_norm, kInPlace},
    {"conv2d", run_conv2d},
    {"cross_entropy", run_cross_entropy},
    {"cumsum", run_cumsum, kInPlace},
    {"div", run_binary<Binary::div>, kInPlace},
    {"div_scalar", run_unary<Unary::div>, kInPlace},
    {"gelu", run_unary<Unary::gelu>, kInPlace},
    {"layer_norm", run_layer_norm, kInPlace},
    {"leaky_relu", run_unary<Unary::leaky_relu>, kInPlace},
    {"linear", run_linear},
    {"matmul", run_matmul},
    {"max_pool2d", run_max_pool2d},
    {"mean", run_mean},
    {"mul", run_binary<Binary::mul>, kInPlace},
    {"mul_scalar", run_unary<Unary::mul>, kInPlace},
    {"relu", run_unary<Unary::relu>, kInPlace},
    {"sigmoid", run_unary<Unary::sigmoid>, kInPlace},
    {"softmax", run_softmax, kInPlace},
    {"sqrt", run_unary<Unary::sqrt>, kInPlace},
    {"square", run_unary<Unary::square>, kInPlace},
    {"sub", run_binary<Binary::sub>, kInPlace},
    {"sub_scalar", run_unary<Unary::sub>, kInPlace},
    {"sum", run_sum},
};
static_assert(std::ranges::is_sorted(kImplementations, {}, &Implementation::name));

}  // namespace

const Implementation& find_implementation(std::string_view name) {
  const auto* found = std::ranges::lower_bound(kImplementations, name, {}, &Implementation::name);
  if (found == std::end(kImplementations) || found->name != name) {
    throw Error(ErrorCode::kUnsupported,
                "operator '" + std::string(name) +
                    "' has no CPU implementation; add it to reference/registry.cc");
  }
  return *found;
}

}  // namespace kbench::reference
