// Losses.
#include "kbench/ops.h"
#include "libkbench/ops/families.h"

namespace kbench {
namespace {

std::vector<TensorType> cross_entropy_type(const OperatorCall& call) {
  require_float(call, 0);
  const Shape& x = call.inputs[0].shape;
  require_shape(x.size() == 2, "predictions must be [rows, classes]");
  require_shape(call.inputs[1] == TensorType{DType::i64, {x[0]}},
                "targets must be i64 [" + std::to_string(x[0]) + "]");
  return {{DType::f32, {}}};
}

}  // namespace

const std::vector<Operator>& loss_operators() {
  static const std::vector<Operator> operators = {
      {.name = "cross_entropy",
       .formula = "the mean over rows of log(sum over j of exp(x[i, j])) - x[i, target[i]]",
       .min_inputs = 2,
       .max_inputs = 2,
       .attributes = {},
       .infer = cross_entropy_type,
       .flops = flops_per_input<4>},
  };
  return operators;
}

Value cross_entropy(Value x, Value target) { return call_operator("cross_entropy", {x, target}); }

}  // namespace kbench
