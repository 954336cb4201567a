// What the operators' files share: a call's tensors as plain memory, and the functions that
// registry.cc lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kbench/error.h"
#include "kbench/graph.h"
#include "kbench/tensor.h"
#include "reference/blas.h"

namespace kbench::reference {

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

/// The elements of the first output.
template <class T>
T* result(Outputs outputs) {
  return outputs[0].data<T>().data();
}

/// The call's axis, counted from the first dimension.
inline int64_t axis_index(const OperatorCall& call) {
  const int64_t axis = call.attributes.integer("axis");
  return axis < 0 ? axis + static_cast<int64_t>(call.inputs[0].shape.size()) : axis;
}

/// Computes a call. The tensors' element types are the call's, except that all floating-point ones
/// are f64 when the oracle runs.
using RunCall = void(const OperatorCall& call, Inputs in, Outputs out);

// ops/elementwise.cc; the output may be the first input
RunCall run_abs, run_add, run_add_scalar, run_clamp, run_clamp_max, run_clamp_min, run_cos,
    run_cube, run_div, run_div_scalar, run_elu, run_exp, run_gelu, run_hardsigmoid, run_hardswish,
    run_leaky_relu, run_log, run_maximum, run_minimum, run_mish, run_mul, run_mul_mask,
    run_mul_scalar, run_neg, run_relu, run_round_to, run_selu, run_sigmoid, run_sin, run_softplus,
    run_sqrt, run_square, run_sub, run_sub_scalar, run_tanh;
// ops/cast.cc
RunCall run_cast;
// ops/shape.cc
RunCall run_cat, run_expand, run_flip, run_gather, run_index_rows, run_pad, run_permute, run_roll,
    run_slice, run_tril, run_triu;
// ops/reduction.cc; of scans and softmax the output may be the input
RunCall run_argmax, run_argmin, run_cumprod, run_cumsum, run_log_softmax, run_logsumexp, run_max,
    run_mean, run_min, run_norm, run_softmax, run_sum;
// ops/matmul.cc
RunCall run_linear, run_matmul;
// ops/convolution.cc, ops/pooling.cc; any number of spatial dimensions up to three
RunCall run_conv, run_conv_transpose;
RunCall run_adaptive_avg_pool2d, run_avg_pool, run_max_pool;
// ops/norm.cc; the output may be the first input
RunCall run_batch_norm, run_group_norm, run_instance_norm, run_layer_norm;
// ops/loss.cc
RunCall run_cross_entropy, run_kl_div_batchmean, run_smooth_l1_loss, run_triplet_margin_loss;
// ops/recurrent.cc
RunCall run_gru, run_lstm;

/// y [rows, out] = x [rows, in] * weight [out, in]^T + bias [out]; bias may be null.
template <class T>
void linear(const T* x, const T* weight, const T* bias, int64_t rows, int64_t in, int64_t out,
            T* y);

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

/// An operator's CPU implementation.
struct Implementation {
  std::string_view name;
  RunCall* run;
  /// The output may share the first input's memory when their types agree.
  bool in_place = false;
};

/// Throws kUnsupported when the operator has none.
const Implementation& find_implementation(std::string_view name);

}  // namespace kbench::reference
