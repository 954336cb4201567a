// What adapters from operator calls to plain functions share, and those that stand in files of
// their own.
#pragma once

#include <span>
#include <string>

#include "kbench/error.h"
#include "kbench/graph.h"
#include "kbench/tensor.h"

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

/// The call's axis, counted from the first dimension.
int64_t axis_index(const OperatorCall& call);

// shape_calls.cc
void run_cat(const OperatorCall& call, Inputs in, Outputs out);
void run_expand(const OperatorCall& call, Inputs in, Outputs out);
void run_flip(const OperatorCall& call, Inputs in, Outputs out);
void run_index_rows(const OperatorCall& call, Inputs in, Outputs out);
void run_pad(const OperatorCall& call, Inputs in, Outputs out);
void run_permute(const OperatorCall& call, Inputs in, Outputs out);
void run_roll(const OperatorCall& call, Inputs in, Outputs out);
void run_slice(const OperatorCall& call, Inputs in, Outputs out);
void run_tril(const OperatorCall& call, Inputs in, Outputs out);
void run_triu(const OperatorCall& call, Inputs in, Outputs out);

// window_calls.cc; convolution and pooling take any number of dimensions up to three
void run_conv(const OperatorCall& call, Inputs in, Outputs out);
void run_conv_transpose(const OperatorCall& call, Inputs in, Outputs out);
void run_max_pool(const OperatorCall& call, Inputs in, Outputs out);
void run_avg_pool(const OperatorCall& call, Inputs in, Outputs out);
void run_adaptive_avg_pool2d(const OperatorCall& call, Inputs in, Outputs out);

// recurrent_calls.cc
void run_lstm(const OperatorCall& call, Inputs in, Outputs out);
void run_gru(const OperatorCall& call, Inputs in, Outputs out);

}  // namespace kbench::reference
