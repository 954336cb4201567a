// Running one operator's implementation as the executor does.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kbench/graph.h"
#include "reference/call.h"
#include "tests/reference/arrays.h"

namespace kbench::reference {

/// A tensor of T with the values, whatever its type.
template <class T, class U>
Tensor tensor_of(const Shape& shape, const std::vector<U>& values) {
  Tensor tensor(dtype_of<T>(), shape);
  EXPECT_EQ(tensor.elements(), static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), tensor.data<T>().begin());
  return tensor;
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

/// The call's outputs; those of floats are of `real`, as its inputs of floats are. In place, the
/// first one takes the first input's memory.
inline std::vector<Tensor> run_call(const OperatorCall& call, const std::vector<Tensor>& inputs,
                                    DType real, bool in_place = false) {
  std::vector<Tensor> outputs;
  for (TensorType type : call.outputs) {
    if (type.dtype == DType::f32) type.dtype = real;
    outputs.push_back(in_place ? inputs[0] : Tensor(type));
  }
  find_implementation(call.op->name).run(call, inputs, outputs);
  return outputs;
}

template <class T>
std::vector<Tensor> run_call(const std::string& name, const std::vector<Tensor>& inputs,
                             Attributes attributes = {}) {
  std::vector<TensorType> types;
  for (const Tensor& input : inputs) {
    types.push_back(input.type());
    if (types.back().dtype == DType::f64) types.back().dtype = DType::f32;
  }
  return run_call(make_call(find_operator(name), types, std::move(attributes)), inputs,
                  dtype_of<T>());
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())) == 0;
}

}  // namespace kbench::reference
