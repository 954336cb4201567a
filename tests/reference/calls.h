// Running one operator's implementation as the executor does.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
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

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

/// The operator's outputs; those of floating-point type are of T, as its floating-point inputs are.
/// In place, the first one takes the first input's memory.
template <class T>
std::vector<Tensor> run_call(const std::string& name, const std::vector<Tensor>& inputs,
                             Attributes attributes = {}, bool in_place = false) {
  std::vector<TensorType> types;
  for (const Tensor& input : inputs) {
    types.push_back(input.type());
    if (types.back().dtype == DType::f64) types.back().dtype = DType::f32;
  }
  const OperatorCall call = make_call(find_operator(name), types, std::move(attributes));
  std::vector<Tensor> outputs;
  for (TensorType type : call.outputs) {
    if (type.dtype == DType::f32) type.dtype = dtype_of<T>();
    outputs.push_back(in_place ? inputs[0] : Tensor(type));
  }
  find_implementation(name).run(call, inputs, outputs);
  return outputs;
}

/// The values of an operator's one output, which must be the same in place.
template <class T>
std::vector<T> run_twice(const std::string& name, const std::vector<Tensor>& inputs,
                         const Attributes& attributes = {}) {
  const Tensor y = run_call<T>(name, inputs, attributes)[0];
  std::vector<Tensor> again = inputs;
  again[0] = inputs[0].clone();
  run_call<T>(name, again, attributes, true);
  EXPECT_EQ(std::memcmp(y.raw(), again[0].raw(), static_cast<size_t>(y.bytes())), 0) << name;
  return values_of<T>(y);
}

}  // namespace kbench::reference
