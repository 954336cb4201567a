// Convolutions and transposed convolutions in 1, 2 and 3 dimensions.
#include <algorithm>
#include <limits>

#include "kbench/ops.h"
#include "libkbench/ops/families.h"

namespace kbench {
namespace {

/// Checks of x, weight, bias and `groups` that both kinds of convolution share.
void require_conv(const OperatorCall& call, int64_t weight_in, int64_t weight_out) {
  for (size_t i = 0; i < call.inputs.size(); ++i) require_float(call, i);
  const Shape& x = call.inputs[0].shape;
  const int64_t groups = call.attributes.integer("groups");
  require_shape(groups > 0 && x[1] % groups == 0 && weight_out % groups == 0,
                "groups must divide both channel counts");
  require_shape(weight_in == x[1], "the weight takes " + std::to_string(weight_in) +
                                       " channels, the input has " + std::to_string(x[1]));
  require_shape(call.inputs.size() < 3 || call.inputs[2].shape == Shape{weight_out},
                "the bias must be [" + std::to_string(weight_out) + "]");
}

void require_ranks(const OperatorCall& call, size_t dims) {
  for (size_t i = 0; i < 2; ++i) {
    require_shape(call.inputs[i].shape.size() == dims + 2,
                  std::string(i ? "the weight" : "the input") + " must have " +
                      std::to_string(dims + 2) + " dimensions");
  }
}

template <size_t dims>
std::vector<TensorType> conv_type(const OperatorCall& call) {
  require_ranks(call, dims);
  const Shape& x = call.inputs[0].shape;
  const Shape& w = call.inputs[1].shape;
  require_conv(call, multiply_add(w[1], call.attributes.integer("groups"), 0), w[0]);
  const Window window{.kernel = {w.begin() + 2, w.end()},
                      .stride = per_dimension(call.attributes.list("stride"), dims),
                      .padding = per_dimension(call.attributes.list("padding"), dims),
                      .dilation = per_dimension(call.attributes.list("dilation"), dims)};
  Shape out = {x[0], w[0]};
  for (size_t i = 0; i < dims; ++i) out.push_back(window.extent(i, x[2 + i]));
  return {{DType::f32, out}};
}

template <size_t dims>
std::vector<TensorType> conv_transpose_type(const OperatorCall& call) {
  require_ranks(call, dims);
  const Shape& x = call.inputs[0].shape;
  const Shape& w = call.inputs[1].shape;
  const int64_t out_channels = multiply_add(w[1], call.attributes.integer("groups"), 0);
  require_conv(call, w[0], out_channels);
  const auto stride = per_dimension(call.attributes.list("stride"), dims);
  const auto padding = per_dimension(call.attributes.list("padding"), dims);
  const auto extra = per_dimension(call.attributes.list("output_padding"), dims);
  const auto dilation = per_dimension(call.attributes.list("dilation"), dims);
  Shape out = {x[0], out_channels};
  for (size_t i = 0; i < dims; ++i) {
    require_shape(stride[i] > 0 && dilation[i] > 0 && padding[i] >= 0 && extra[i] >= 0,
                  "stride and dilation must be positive, padding not negative");
    require_shape(extra[i] < std::max(stride[i], dilation[i]),
                  "output_padding must be smaller than stride or dilation");
    const int64_t scattered =
        multiply_add(x[2 + i] - 1, stride[i], multiply_add(dilation[i], w[2 + i] - 1, 1));
    out.push_back(multiply_add(-2, padding[i], multiply_add(1, extra[i], scattered)));
    require_shape(out.back() > 0, "padding leaves nothing of the output");
  }
  return {{DType::f32, out}};
}

/// A multiply-add for each weight at each position; taps that fall outside count too, as is usual.
/// The positions are the output's of a convolution, the input's of a transposed one.
double weight_flops(const OperatorCall& call, double positions) {
  const Shape& w = call.inputs[1].shape;
  double taps = static_cast<double>(w[1]);
  for (size_t i = 2; i < w.size(); ++i) taps *= static_cast<double>(w[i]);
  return positions * 2.0 * taps + (call.inputs.size() > 2 ? output_elements(call) : 0);
}

double conv_flops(const OperatorCall& call) { return weight_flops(call, output_elements(call)); }
double conv_transpose_flops(const OperatorCall& call) {
  return weight_flops(call, input_elements(call));
}

template <size_t dims>
Operator conv() {
  const std::vector<int64_t> ones(dims, 1), zeros(dims, 0);
  return {.name = with_dimensions("conv", dims),
          .formula =
              "y[n, o, i] = bias[o] + sum over taps u and c < C / groups of weight[o, c, u] * x[n, "
              "g * C / groups + c, i * stride + u * dilation - padding]; i, u and the options have "
              "a number a spatial dimension; x [N, C, ...] is zero outside; g = floor(o * groups / "
              "O) is the group of output channel o of O; a call may have no bias",
          .shapes =
              "x [N, C, ...], weight [O, C / groups, ...], bias [O] -> [N, O, ...], an extent "
              "(x + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1, rounded down",
          .follows = "torch.nn.functional." + with_dimensions("conv", dims) +
                     "(x, weight, bias, stride, padding, dilation, groups)",
          .min_inputs = 2,
          .max_inputs = 3,
          .attributes = {{"stride", ones},
                         {"padding", zeros},
                         {"dilation", ones},
                         {"groups", int64_t{1}}},
          .infer = conv_type<dims>,
          .flops = conv_flops};
}

template <size_t dims>
Operator conv_transpose() {
  const std::vector<int64_t> ones(dims, 1), zeros(dims, 0);
  return {.name = with_dimensions("conv_transpose", dims),
          .formula =
              "y begins as bias[o] (0 without one) and every x[n, c, i] adds weight[c, o, u] * "
              "x[n, c, i] to y[n, g * O / groups + o, i * stride + u * dilation - padding] for "
              "every tap u and o < O / groups; i, u and the options have a number a spatial "
              "dimension; places outside y are dropped; g = floor(c * groups / C) is the group of "
              "input channel c of C; y's extent is (in - 1) * stride - 2 * padding + dilation * "
              "(kernel - 1) + 1 + output_padding",
          .shapes = "x [N, C, ...], weight [C, O / groups, ...], bias [O] -> [N, O, ...]",
          .follows = "torch.nn.functional." + with_dimensions("conv_transpose", dims) +
                     "(x, weight, bias, stride, padding, output_padding, groups, dilation)",
          .min_inputs = 2,
          .max_inputs = 3,
          .attributes = {{"stride", ones},
                         {"padding", zeros},
                         {"output_padding", zeros},
                         {"dilation", ones},
                         {"groups", int64_t{1}}},
          .infer = conv_transpose_type<dims>,
          .flops = conv_transpose_flops};
}

/// The largest int64 where the product is none.
int64_t product(int64_t first, const std::vector<int64_t>& values) {
  for (const int64_t value : values) {
    if (__builtin_mul_overflow(first, value, &first)) return std::numeric_limits<int64_t>::max();
  }
  return first;
}

/// Checked before the weight's shape is computed, where a remainder would be lost.
void require_groups(const std::string& op, Value x, int64_t out_channels, int64_t groups) {
  require_for(op, x, groups > 0 && dim_for(op, x, 1) % groups == 0 && out_channels % groups == 0,
              "groups, " + std::to_string(groups) + ", must divide both channel counts, " +
                  std::to_string(dim_for(op, x, 1)) + " and " + std::to_string(out_channels));
}

/// x and the module's "weight" [first, second, kernel...].
std::vector<Value> with_weight(Value x, const Module& module, Shape weight,
                               const std::vector<int64_t>& kernel, int64_t fan_in) {
  weight.insert(weight.end(), kernel.begin(), kernel.end());
  std::vector<Value> inputs = {x, module.parameter("weight", weight, weight_init(fan_in))};
  return inputs;
}

Value conv(size_t dims, Value x, const Module& module, const Conv& options) {
  const std::string op = with_dimensions("conv", dims);
  require_options(op, x, dims, {options.kernel, options.stride, options.padding, options.dilation});
  require_groups(op, x, options.out_channels, options.groups);
  const auto kernel = per_dimension(options.kernel, dims);
  const int64_t channels = dim_for(op, x, 1) / options.groups;
  auto inputs =
      with_weight(x, module, {options.out_channels, channels}, kernel, product(channels, kernel));
  if (options.bias) {
    inputs.push_back(module.parameter("bias", {options.out_channels}, options.bias_drawn));
  }
  return call_operator(op, inputs,
                       {{"stride", per_dimension(options.stride, dims)},
                        {"padding", per_dimension(options.padding, dims)},
                        {"dilation", per_dimension(options.dilation, dims)},
                        {"groups", options.groups}});
}

Value conv_transpose(size_t dims, Value x, const Module& module, const ConvTranspose& options) {
  const std::string op = with_dimensions("conv_transpose", dims);
  require_options(
      op, x, dims,
      {options.kernel, options.stride, options.padding, options.output_padding, options.dilation});
  require_groups(op, x, options.out_channels, options.groups);
  const auto kernel = per_dimension(options.kernel, dims);
  const auto stride = per_dimension(options.stride, dims);
  const int64_t channels = dim_for(op, x, 1), groups = options.groups;
  // An output element gathers only every stride-th tap.
  const int64_t fan_in =
      product(channels / groups, kernel) / std::max<int64_t>(product(1, stride), 1);
  auto inputs = with_weight(x, module, {channels, options.out_channels / groups}, kernel,
                            std::max<int64_t>(fan_in, 1));
  if (options.bias) {
    inputs.push_back(module.parameter("bias", {options.out_channels}, options.bias_drawn));
  }
  return call_operator(op, inputs,
                       {{"stride", per_dimension(options.stride, dims)},
                        {"padding", per_dimension(options.padding, dims)},
                        {"output_padding", per_dimension(options.output_padding, dims)},
                        {"dilation", per_dimension(options.dilation, dims)},
                        {"groups", options.groups}});
}

}  // namespace

const std::vector<Operator>& convolution_operators() {
  static const std::vector<Operator> operators = {
      conv<1>(),           conv<2>(),           conv<3>(),
      conv_transpose<1>(), conv_transpose<2>(), conv_transpose<3>(),
  };
  return operators;
}

Value conv1d(Value x, const Module& m, Conv options) { return conv(1, x, m, options); }
Value conv2d(Value x, const Module& m, Conv options) { return conv(2, x, m, options); }
Value conv3d(Value x, const Module& m, Conv options) { return conv(3, x, m, options); }
Value conv_transpose1d(Value x, const Module& m, ConvTranspose options) {
  return conv_transpose(1, x, m, options);
}
Value conv_transpose2d(Value x, const Module& m, ConvTranspose options) {
  return conv_transpose(2, x, m, options);
}
Value conv_transpose3d(Value x, const Module& m, ConvTranspose options) {
  return conv_transpose(3, x, m, options);
}

}  // namespace kbench
