// Which plain function computes which operator.
#pragma once

#include <span>
#include <string_view>

#include "kbench/graph.h"
#include "kbench/tensor.h"

namespace kbench::reference {

/// An operator's CPU implementation. The tensors' element types are the call's, except that all
/// floating-point ones are f64 when the oracle runs.
struct Implementation {
  std::string_view name;
  void (*run)(const OperatorCall& call, std::span<const Tensor> inputs, std::span<Tensor> outputs);
  /// The output may share the first input's memory when their types agree.
  bool in_place = false;
};

/// Throws kUnsupported when the operator has none.
const Implementation& find_implementation(std::string_view name);

}  // namespace kbench::reference
