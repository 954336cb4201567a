// Pooling.
#include "kbench/ops.h"
#include "libkbench/ops/windows.h"

namespace kbench {
namespace {

std::vector<TensorType> pool2d_type(const OperatorCall& call) {
  require_float(call, 0);
  const Shape& x = call.inputs[0].shape;
  require_shape(x.size() == 4, "the input must be [batch, channels, height, width]");
  const auto kernel = per_dimension(call.attributes.list("kernel"), 2);
  const auto stride = per_dimension(call.attributes.list("stride"), 2);
  const auto padding = per_dimension(call.attributes.list("padding"), 2);
  const auto dilation = per_dimension(call.attributes.list("dilation"), 2);
  Shape out = {x[0], x[1]};
  for (int i = 0; i < 2; ++i) {
    require_shape(2 * padding[i] <= kernel[i], "padding must be at most half the kernel");
    out.push_back(window_extent(x[2 + i], kernel[i], stride[i], padding[i], dilation[i]));
  }
  return {{DType::f32, out}};
}

double pool2d_flops(const OperatorCall& call) {
  const auto kernel = per_dimension(call.attributes.list("kernel"), 2);
  return output_elements(call) * static_cast<double>(kernel[0] * kernel[1]);
}

}  // namespace

const std::vector<Operator>& pooling_operators() {
  static const std::vector<Operator> operators = {
      {.name = "max_pool2d",
       .formula = "y[n, c, i, j] = max over u, v of x[n, c, i * stride + u * dilation - padding, "
                  "j * stride + v * dilation - padding], positions outside ignored; NaN wins",
       .attributes = {{"kernel", std::vector<int64_t>{1, 1}, true},
                      {"stride", std::vector<int64_t>{1, 1}, true},
                      {"padding", std::vector<int64_t>{0, 0}},
                      {"dilation", std::vector<int64_t>{1, 1}}},
       .infer = pool2d_type,
       .flops = pool2d_flops},
  };
  return operators;
}

Value max_pool2d(Value x, Pool2d options) {
  const auto& stride = options.stride.empty() ? options.kernel : options.stride;
  return call_operator("max_pool2d", {x},
                       {{"kernel", per_dimension(options.kernel, 2)},
                        {"stride", per_dimension(stride, 2)},
                        {"padding", per_dimension(options.padding, 2)},
                        {"dilation", per_dimension(options.dilation, 2)}});
}

}  // namespace kbench
