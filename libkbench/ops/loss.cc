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

std::vector<TensorType> same_shapes_to_scalar(const OperatorCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    require_float(call, i);
    require_shape(call.inputs[i].shape == call.inputs[0].shape, "all inputs must be of one shape");
  }
  return {{DType::f32, {}}};
}

std::vector<TensorType> divergence_type(const OperatorCall& call) {
  require_shape(!call.inputs[0].shape.empty(), "inputs need a dimension of rows");
  return same_shapes_to_scalar(call);
}

std::vector<TensorType> triplet_type(const OperatorCall& call) {
  require_shape(call.inputs[0].shape.size() == 2, "inputs must be [rows, features]");
  return same_shapes_to_scalar(call);
}

}  // namespace

const std::vector<Operator>& loss_operators() {
  static const std::vector<Operator> operators = {
      {.name = "cross_entropy",
       .formula = "the mean over rows i of log(sum over j of exp(x[i, j])) - x[i, target[i]]",
       .shapes = "x [N, C], target i64 [N] -> []",
       .follows = "torch.nn.functional.cross_entropy(x, target)",
       .min_inputs = 2,
       .max_inputs = 2,
       .attributes = {},
       .infer = cross_entropy_type,
       .flops = flops_per_input<4>},
      {.name = "smooth_l1_loss",
       .formula = "the mean over all elements of 0.5 d^2 where |d| < 1 and |d| - 0.5 elsewhere, d "
                  "= x - target",
       .shapes = "x [...], target [...] -> []",
       .follows = "torch.nn.functional.smooth_l1_loss(x, target, beta=1.0)",
       .min_inputs = 2,
       .max_inputs = 2,
       .attributes = {},
       .infer = same_shapes_to_scalar,
       .flops = flops_per_input<5>},
      {.name = "kl_div_batchmean",
       .formula = "the sum over all elements of target * (log(target) - log_input), zero where "
                  "target is, divided by the extent of dimension 0",
       .shapes = "log_input [...], target [...] -> []",
       .follows = "torch.nn.functional.kl_div(log_input, target, reduction='batchmean')",
       .min_inputs = 2,
       .max_inputs = 2,
       .attributes = {},
       .infer = divergence_type,
       .flops = flops_per_input<4>},
      {.name = "triplet_margin_loss",
       .formula = "the mean over rows of max(|a - p + 1e-6| - |a - n + 1e-6| + margin, 0), where "
                  "|d| is the 2-norm of a row",
       .shapes = "a [N, D], p [N, D], n [N, D] -> []",
       .follows = "torch.nn.functional.triplet_margin_loss(a, p, n, margin, p=2, eps=1e-6)",
       .min_inputs = 3,
       .max_inputs = 3,
       .attributes = {{"margin", 1.0}},
       .infer = triplet_type,
       .flops = flops_per_input<8>},
  };
  return operators;
}

Value cross_entropy(Value x, Value target) { return call_operator("cross_entropy", {x, target}); }

Value smooth_l1_loss(Value x, Value target) { return call_operator("smooth_l1_loss", {x, target}); }

Value kl_div_batchmean(Value log_input, Value target) {
  return call_operator("kl_div_batchmean", {log_input, target});
}

Value triplet_margin_loss(Value anchor, Value positive, Value negative, double margin) {
  return call_operator("triplet_margin_loss", {anchor, positive, negative}, {{"margin", margin}});
}

}  // namespace kbench
