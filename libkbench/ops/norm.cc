// Normalisation.
#include "kbench/ops.h"
#include "libkbench/ops/families.h"

namespace kbench {
namespace {

void require_affine(const OperatorCall& call, const Shape& shape) {
  for (size_t i = 0; i < call.inputs.size(); ++i) require_float(call, i);
  require_shape(call.inputs.size() != 2, "weight and bias come together");
  require_shape(call.attributes.real("eps") >= 0, "eps must not be negative");
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    require_shape(call.inputs[i].shape == shape,
                  "weight and bias must be of shape " + to_string(shape));
  }
}

std::vector<TensorType> batch_norm_type(const OperatorCall& call) {
  const Shape& x = call.inputs[0].shape;
  require_shape(x.size() >= 2, "the input must be [batch, channels, ...]");
  require_affine(call, {x[1]});
  require_shape(call.inputs[0].elements() > x[1],
                "batch statistics need more than one value a channel");
  return {call.inputs[0]};
}

std::vector<TensorType> layer_norm_type(const OperatorCall& call) {
  const Shape& x = call.inputs[0].shape;
  const int64_t dims = call.attributes.integer("dims");
  require_shape(dims >= 1 && dims <= static_cast<int64_t>(x.size()),
                "dims must lie between 1 and the input's rank");
  require_affine(call, Shape(x.end() - dims, x.end()));
  return {call.inputs[0]};
}

std::vector<TensorType> instance_norm_type(const OperatorCall& call) {
  const Shape& x = call.inputs[0].shape;
  require_shape(x.size() >= 3, "the input must be [batch, channels, ...]");
  require_affine(call, {x[1]});
  require_shape(call.inputs[0].elements() > x[0] * x[1],
                "statistics need more than one value a sample and channel");
  return {call.inputs[0]};
}

std::vector<TensorType> group_norm_type(const OperatorCall& call) {
  const Shape& x = call.inputs[0].shape;
  const int64_t groups = call.attributes.integer("groups");
  require_shape(x.size() >= 2, "the input must be [batch, channels, ...]");
  require_shape(groups > 0 && x[1] % groups == 0, "groups must divide the channel count");
  require_affine(call, {x[1]});
  return {call.inputs[0]};
}

std::string normalised(const std::string& over) {
  return "(x - mean) / sqrt(var + eps) * weight + bias with mean and biased variance (over n, not "
         "n - 1) of " +
         over + "; a call may have neither weight nor bias";
}

/// An element's share of the mean (1) and variance (3), its difference and product (2), and where
/// there are a weight and a bias, a product and a sum.
double norm_flops(const OperatorCall& call) {
  return (call.inputs.size() > 1 ? 8 : 6) * output_elements(call);
}

/// "weight" and "bias" after x, where the norm has them.
std::vector<Value> affine_inputs(Value x, const Module& module, const Norm& options, Shape shape) {
  if (!options.affine) return {x};
  return {x, module.parameter("weight", shape, uniform(0.5, 1.5)),
          module.parameter("bias", shape, uniform(-0.5, 0.5))};
}

}  // namespace

const std::vector<Operator>& norm_operators() {
  static const std::vector<Operator> operators = {
      {.name = "batch_norm",
       .formula = normalised("each channel (dimension 1) over the batch and the rest, as in "
                             "training, never running ones; weight and bias a channel"),
       .shapes = "x [N, C, ...], weight [C], bias [C] -> [N, C, ...]",
       .follows =
           "torch.nn.functional.batch_norm(x, None, None, weight, bias, training=True, eps=eps)",
       .min_inputs = 1,
       .max_inputs = 3,
       .attributes = {{"eps", 1e-5}},
       .infer = batch_norm_type,
       .flops = norm_flops},
      {.name = "instance_norm",
       .formula = normalised("each sample and channel over the rest; weight and bias a channel"),
       .shapes = "x [N, C, ...], weight [C], bias [C] -> [N, C, ...]",
       .follows = "torch.nn.functional.instance_norm(x, weight=weight, bias=bias, eps=eps)",
       .min_inputs = 1,
       .max_inputs = 3,
       .attributes = {{"eps", 1e-5}},
       .infer = instance_norm_type,
       .flops = norm_flops},
      {.name = "group_norm",
       .formula = normalised("each sample and group, over its channels / groups neighbouring "
                             "channels and the rest; weight and bias a channel"),
       .shapes = "x [N, C, ...], weight [C], bias [C] -> [N, C, ...]",
       .follows = "torch.nn.functional.group_norm(x, groups, weight, bias, eps)",
       .min_inputs = 1,
       .max_inputs = 3,
       .attributes = {{"groups", int64_t{1}, true}, {"eps", 1e-5}},
       .infer = group_norm_type,
       .flops = norm_flops},
      {.name = "layer_norm",
       .formula = normalised(
           "each row of the last `dims` dimensions, over these; weight and bias of their shape"),
       .shapes = "x [..., D...], weight [D...], bias [D...] -> [..., D...]",
       .follows = "torch.nn.functional.layer_norm(x, x.shape[-dims:], weight, bias, eps)",
       .min_inputs = 1,
       .max_inputs = 3,
       .attributes = {{"dims", int64_t{1}}, {"eps", 1e-5}},
       .infer = layer_norm_type,
       .flops = norm_flops},
  };
  return operators;
}

Value batch_norm(Value x, const Module& module, Norm options) {
  return call_operator("batch_norm",
                       affine_inputs(x, module, options, {dim_for("batch_norm", x, 1)}),
                       {{"eps", options.eps}});
}

Value instance_norm(Value x, const Module& module, Norm options) {
  return call_operator("instance_norm",
                       affine_inputs(x, module, options, {dim_for("instance_norm", x, 1)}),
                       {{"eps", options.eps}});
}

Value group_norm(Value x, const Module& module, int64_t groups, Norm options) {
  return call_operator("group_norm",
                       affine_inputs(x, module, options, {dim_for("group_norm", x, 1)}),
                       {{"groups", groups}, {"eps", options.eps}});
}

Value layer_norm(Value x, const Module& module, int dims, Norm options) {
  require_for("layer_norm", x, dims >= 1 && dims <= x.rank(),
              "dims " + std::to_string(dims) + " must lie between 1 and the input's rank");
  const Shape shape(x.shape().end() - dims, x.shape().end());
  return call_operator("layer_norm", affine_inputs(x, module, options, shape),
                       {{"dims", int64_t{dims}}, {"eps", options.eps}});
}

}  // namespace kbench
