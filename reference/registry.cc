// Adapters from operator calls to the plain functions in reference/ops/, and the table of them all.
#include "reference/registry.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kbench/error.h"
#include "reference/call.h"
#include "reference/ops/elementwise.h"
#include "reference/ops/loss.h"
#include "reference/ops/matmul.h"
#include "reference/ops/norm.h"
#include "reference/ops/reduction.h"

namespace kbench::reference {
namespace {

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

void run_clamp(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    clamp<T>(call.attributes.real("lo"), call.attributes.real("hi"), elements<T>(in, 0),
             out[0].data<T>().data(), out[0].elements());
  });
}

void run_mul_mask(const OperatorCall&, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    mul_mask<T>(elements<T>(in, 0), elements<bool>(in, 1), out[0].data<T>().data(),
                out[0].elements());
  });
}

Axis call_axis(const OperatorCall& call) { return axis_of(call.inputs[0].shape, axis_index(call)); }

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

/// A function of plain arrays that takes one element type to another along an axis.
template <class In, class Out>
using AlongAxis = void (*)(const In* x, const Axis& axis, Out* y);

/// Both precisions of an operator along an axis that gives floating-point values.
template <AlongAxis<float, float> single, AlongAxis<double, double> full>
void run_along_axis(const OperatorCall& call, Inputs in, Outputs out) {
  if (out[0].dtype() == DType::f32) {
    single(elements<float>(in, 0), call_axis(call), out[0].data<float>().data());
  } else {
    full(elements<double>(in, 0), call_axis(call), out[0].data<double>().data());
  }
}

/// The same for one that gives indices.
template <AlongAxis<float, int64_t> single, AlongAxis<double, int64_t> full>
void run_index_along_axis(const OperatorCall& call, Inputs in, Outputs out) {
  int64_t* y = out[0].data<int64_t>().data();
  if (in[0].dtype() == DType::f32) {
    single(elements<float>(in, 0), call_axis(call), y);
  } else {
    full(elements<double>(in, 0), call_axis(call), y);
  }
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

void run_batch_norm(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  with_type(out[0], [&]<class T>() {
    batch_norm<T>(elements<T>(in, 0), x[0], x[1], in[0].elements() / (x[0] * x[1]),
                  elements<T>(in, 1), elements<T>(in, 2), call.attributes.real("eps"),
                  out[0].data<T>().data());
  });
}

void group_norm_of(const OperatorCall& call, int64_t groups, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  with_type(out[0], [&]<class T>() {
    group_norm<T>(elements<T>(in, 0), x[0], x[1], in[0].elements() / (x[0] * x[1]), groups,
                  elements<T>(in, 1), elements<T>(in, 2), call.attributes.real("eps"),
                  out[0].data<T>().data());
  });
}

void run_group_norm(const OperatorCall& call, Inputs in, Outputs out) {
  group_norm_of(call, call.attributes.integer("groups"), in, out);
}

void run_instance_norm(const OperatorCall& call, Inputs in, Outputs out) {
  group_norm_of(call, in[0].shape()[1], in, out);
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

void run_smooth_l1_loss(const OperatorCall&, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    out[0].data<T>()[0] =
        smooth_l1_loss<T>(elements<T>(in, 0), elements<T>(in, 1), in[0].elements());
  });
}

void run_kl_div_batchmean(const OperatorCall&, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    out[0].data<T>()[0] = kl_div_batchmean<T>(elements<T>(in, 0), elements<T>(in, 1),
                                              in[0].elements(), in[0].shape()[0]);
  });
}

void run_triplet_margin_loss(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  with_type(out[0], [&]<class T>() {
    out[0].data<T>()[0] =
        triplet_margin_loss<T>(elements<T>(in, 0), elements<T>(in, 1), elements<T>(in, 2), x[0],
                               x[1], call.attributes.real("margin"));
  });
}

constexpr bool kInPlace = true;

/// Sorted by name.
constexpr Implementation kImplementations[] = {
    {"abs", run_unary<Unary::abs>, kInPlace},
    {"adaptive_avg_pool2d", run_adaptive_avg_pool2d},
    {"add", run_binary<Binary::add>, kInPlace},
    {"add_scalar", run_unary<Unary::add>, kInPlace},
    {"argmax", run_index_along_axis<argmax<float>, argmax<double>>},
    {"argmin", run_index_along_axis<argmin<float>, argmin<double>>},
    {"avg_pool1d", run_avg_pool},
    {"avg_pool2d", run_avg_pool},
    {"avg_pool3d", run_avg_pool},
    {"batch_norm", run_batch_norm, kInPlace},
    {"cat", run_cat},
    {"clamp", run_clamp, kInPlace},
    {"clamp_max", run_unary<Unary::clamp_max>, kInPlace},
    {"clamp_min", run_unary<Unary::clamp_min>, kInPlace},
    {"conv1d", run_conv},
    {"conv2d", run_conv},
    {"conv3d", run_conv},
    {"conv_transpose1d", run_conv_transpose},
    {"conv_transpose2d", run_conv_transpose},
    {"conv_transpose3d", run_conv_transpose},
    {"cross_entropy", run_cross_entropy},
    {"cumprod", run_along_axis<cumprod<float>, cumprod<double>>, kInPlace},
    {"cumsum", run_along_axis<cumsum<float>, cumsum<double>>, kInPlace},
    {"div", run_binary<Binary::div>, kInPlace},
    {"div_scalar", run_unary<Unary::div>, kInPlace},
    {"elu", run_unary<Unary::elu>, kInPlace},
    {"exp", run_unary<Unary::exp>, kInPlace},
    {"expand", run_expand},
    {"flip", run_flip},
    {"gelu", run_unary<Unary::gelu>, kInPlace},
    {"group_norm", run_group_norm, kInPlace},
    {"gru", run_gru},
    {"hardsigmoid", run_unary<Unary::hardsigmoid>, kInPlace},
    {"hardswish", run_unary<Unary::hardswish>, kInPlace},
    {"index_rows", run_index_rows},
    {"instance_norm", run_instance_norm, kInPlace},
    {"kl_div_batchmean", run_kl_div_batchmean},
    {"layer_norm", run_layer_norm, kInPlace},
    {"leaky_relu", run_unary<Unary::leaky_relu>, kInPlace},
    {"linear", run_linear},
    {"log", run_unary<Unary::log>, kInPlace},
    {"log_softmax", run_along_axis<log_softmax<float>, log_softmax<double>>, kInPlace},
    {"logsumexp", run_along_axis<logsumexp<float>, logsumexp<double>>},
    {"lstm", run_lstm},
    {"matmul", run_matmul},
    {"max", run_along_axis<max<float>, max<double>>},
    {"max_pool1d", run_max_pool},
    {"max_pool2d", run_max_pool},
    {"max_pool3d", run_max_pool},
    {"maximum", run_binary<Binary::maximum>, kInPlace},
    {"mean", run_mean},
    {"min", run_along_axis<min<float>, min<double>>},
    {"minimum", run_binary<Binary::minimum>, kInPlace},
    {"mish", run_unary<Unary::mish>, kInPlace},
    {"mul", run_binary<Binary::mul>, kInPlace},
    {"mul_mask", run_mul_mask, kInPlace},
    {"mul_scalar", run_unary<Unary::mul>, kInPlace},
    {"neg", run_unary<Unary::neg>, kInPlace},
    {"norm", run_along_axis<norm<float>, norm<double>>},
    {"pad", run_pad},
    {"permute", run_permute},
    {"relu", run_unary<Unary::relu>, kInPlace},
    {"roll", run_roll},
    {"selu", run_unary<Unary::selu>, kInPlace},
    {"sigmoid", run_unary<Unary::sigmoid>, kInPlace},
    {"slice", run_slice},
    {"smooth_l1_loss", run_smooth_l1_loss},
    {"softmax", run_along_axis<softmax<float>, softmax<double>>, kInPlace},
    {"softplus", run_unary<Unary::softplus>, kInPlace},
    {"sqrt", run_unary<Unary::sqrt>, kInPlace},
    {"square", run_unary<Unary::square>, kInPlace},
    {"sub", run_binary<Binary::sub>, kInPlace},
    {"sub_scalar", run_unary<Unary::sub>, kInPlace},
    {"sum", run_sum},
    {"tanh", run_unary<Unary::tanh>, kInPlace},
    {"tril", run_tril},
    {"triplet_margin_loss", run_triplet_margin_loss},
    {"triu", run_triu},
};
static_assert(std::ranges::is_sorted(kImplementations, {}, &Implementation::name));

}  // namespace

int64_t axis_index(const OperatorCall& call) {
  const int64_t axis = call.attributes.integer("axis");
  return axis < 0 ? axis + static_cast<int64_t>(call.inputs[0].shape.size()) : axis;
}

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
