// Running one operator's implementation as the executor does.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "kbench/graph.h"
#include "reference/registry.h"
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
Tensor random_tensor(const Shape& shape, uint32_t seed = 1) {
  return tensor_of<T>(shape, random_array<T>(element_count(shape), seed));
}

/// The operator's outputs; those of floating-point type are of T, as its floating-point inputs are.
template <class T>
std::vector<Tensor> run_call(const char* name, const std::vector<Tensor>& inputs,
                             Attributes attributes = {}) {
  std::vector<TensorType> types;
  for (const Tensor& input : inputs) {
    types.push_back(input.type());
    if (types.back().dtype == DType::f64) types.back().dtype = DType::f32;
  }
  const OperatorCall call = make_call(find_operator(name), types, std::move(attributes));
  std::vector<Tensor> outputs;
  for (TensorType type : call.outputs) {
    if (type.dtype == DType::f32) type.dtype = dtype_of<T>();
    outputs.emplace_back(type);
  }
  find_implementation(name).run(call, inputs, outputs);
  return outputs;
}

}  // namespace kbench::reference
