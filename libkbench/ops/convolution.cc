// Convolutions.
#include "kbench/ops.h"
#include "libkbench/ops/windows.h"

namespace kbench {
namespace {

std::vector<TensorType> conv2d_type(const OperatorCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) require_float(call, i);
  const Shape& x = call.inputs[0].shape;
  const Shape& w = call.inputs[1].shape;
  const int64_t groups = call.attributes.integer("groups");
  require_shape(x.size() == 4, "the input must be [batch, channels, height, width]");
  require_shape(w.size() == 4, "the weight must be [out, in / groups, kernel, kernel]");
  require_shape(groups > 0 && x[1] % groups == 0 && w[0] % groups == 0,
                "groups must divide both channel counts");
  require_shape(w[1] == x[1] / groups, "the weight takes " + std::to_string(w[1]) +
                                           " channels a group, the input has " +
                                           std::to_string(x[1] / groups));
  require_shape(call.inputs.size() < 3 || call.inputs[2].shape == Shape{w[0]},
                "the bias must be [" + std::to_string(w[0]) + "]");
  const auto stride = per_dimension(call.attributes.list("stride"), 2);
  const auto padding = per_dimension(call.attributes.list("padding"), 2);
  const auto dilation = per_dimension(call.attributes.list("dilation"), 2);
  Shape out = {x[0], w[0]};
  for (int i = 0; i < 2; ++i) {
    out.push_back(window_extent(x[2 + i], w[2 + i], stride[i], padding[i], dilation[i]));
  }
  return {{DType::f32, out}};
}

/// Taps outside the input count too, as is usual.
double conv2d_flops(const OperatorCall& call) {
  const Shape& w = call.inputs[1].shape;
  const auto taps = static_cast<double>(w[1] * w[2] * w[3]);
  return output_elements(call) * (2.0 * taps + (call.inputs.size() > 2 ? 1 : 0));
}

}  // namespace

const std::vector<Operator>& convolution_operators() {
  static const std::vector<Operator> operators = {
      {.name = "conv2d",
       .formula = "y[n, o, i, j] = bias[o] + sum over c, u, v of weight[o, c, u, v] * "
                  "x[n, c, i * stride + u * dilation - padding, j * stride + v * dilation - "
                  "padding], zero outside; within each of `groups` channel groups",
       .min_inputs = 2,
       .max_inputs = 3,
       .attributes = {{"stride", std::vector<int64_t>{1, 1}},
                      {"padding", std::vector<int64_t>{0, 0}},
                      {"dilation", std::vector<int64_t>{1, 1}},
                      {"groups", int64_t{1}}},
       .infer = conv2d_type,
       .flops = conv2d_flops},
  };
  return operators;
}

Value conv2d(Value x, const Module& module, Conv2d options) {
  const auto kernel = per_dimension(options.kernel, 2);
  const int64_t channels = x.dim(1) / options.groups;
  std::vector<Value> inputs = {
      x, module.parameter("weight", {options.out_channels, channels, kernel[0], kernel[1]},
                          weight_init(channels * kernel[0] * kernel[1]))};
  if (options.bias) {
    inputs.push_back(module.parameter("bias", {options.out_channels}, uniform(-0.5, 0.5)));
  }
  return call_operator("conv2d", inputs,
                       {{"stride", per_dimension(options.stride, 2)},
                        {"padding", per_dimension(options.padding, 2)},
                        {"dilation", per_dimension(options.dilation, 2)},
                        {"groups", options.groups}});
}

}  // namespace kbench
