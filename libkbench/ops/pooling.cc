// Pooling in 1, 2 and 3 dimensions.
#include <numeric>

#include "kbench/ops.h"
#include "libkbench/ops/families.h"

namespace kbench {
namespace {

Window window_of(const OperatorCall& call, size_t dims) {
  Window window;
  window.kernel = per_dimension(call.attributes.list("kernel"), dims);
  window.stride = per_dimension(call.attributes.list("stride"), dims);
  window.padding = per_dimension(call.attributes.list("padding"), dims);
  const bool dilated = call.attributes.find("dilation") != nullptr;
  window.dilation = dilated ? per_dimension(call.attributes.list("dilation"), dims)
                            : std::vector<int64_t>(dims, 1);
  window.ceil_mode = call.attributes.flag("ceil_mode");
  return window;
}

template <size_t dims>
std::vector<TensorType> pool_type(const OperatorCall& call) {
  require_float(call, 0);
  const Shape& x = call.inputs[0].shape;
  require_shape(x.size() == dims + 2,
                "the input must be [batch, channels] and " + std::to_string(dims) + " more");
  const Window window = window_of(call, dims);
  Shape out = {x[0], x[1]};
  for (size_t i = 0; i < dims; ++i) {
    require_shape(window.padding[i] <= window.kernel[i] / 2,
                  "padding must be at most half the kernel");
    out.push_back(window.extent(i, x[2 + i]));
  }
  return {{DType::f32, out}};
}

template <size_t dims>
double pool_flops(const OperatorCall& call) {
  double taps = 1;
  for (int64_t extent : window_of(call, dims).kernel) taps *= static_cast<double>(extent);
  return output_elements(call) * taps;
}

std::vector<TensorType> adaptive_type(const OperatorCall& call) {
  require_float(call, 0);
  Shape shape = call.inputs[0].shape;
  require_shape(shape.size() == 4, "the input must be [batch, channels, height, width]");
  const auto output = per_dimension(call.attributes.list("output"), 2);
  for (size_t i = 0; i < 2; ++i) {
    require_shape(output[i] > 0, "output extents must be positive");
    shape[2 + i] = output[i];
  }
  return {{DType::f32, shape}};
}

/// An addition for each element of each cell: neighbouring cells share elements where extents do
/// not divide.
double adaptive_flops(const OperatorCall& call) {
  const Shape& x = call.inputs[0].shape;
  const Shape& y = call.outputs[0].shape;
  double flops = static_cast<double>(x[0]) * static_cast<double>(x[1]);
  for (size_t d = 2; d < 4; ++d) {
    // The cells cover `in` elements once; every border between two that is no whole number, and
    // there are out - gcd(in, out) of them, lies in an element that both cells count.
    flops *= static_cast<double>(x[d] + y[d] - std::gcd(x[d], y[d]));
  }
  return flops;
}

template <size_t dims>
Operator pool(const char* stem, std::string formula, const char* arguments, bool dilated) {
  const std::vector<int64_t> ones(dims, 1), zeros(dims, 0);
  Operator op{.name = with_dimensions(stem, dims),
              .formula = std::move(formula) +
                         "; i, u and the options have a number a spatial dimension; where "
                         "ceil_mode is 1 and elements are left over, a last window hangs over the "
                         "end, if it begins inside x or the padding before it",
              .shapes =
                  "x [N, C, ...] -> [N, C, ...], an extent (x + 2 * padding - dilation * "
                  "(kernel - 1) - 1) / stride + 1, rounded down, or up where ceil_mode is 1",
              .follows = "torch.nn.functional." + with_dimensions(stem, dims) + arguments,
              .attributes = {{"kernel", ones, true},
                             {"stride", ones, true},
                             {"padding", zeros},
                             {"ceil_mode", int64_t{0}}},
              .infer = pool_type<dims>,
              .flops = pool_flops<dims>};
  if (dilated) op.attributes.push_back({"dilation", ones});
  return op;
}

template <size_t dims>
Operator max_pool() {
  return pool<dims>("max_pool",
                    "y[n, c, i] = max over taps u of x[n, c, i * stride + u * dilation - padding], "
                    "places outside x ignored; NaN wins",
                    "(x, kernel, stride, padding, dilation, ceil_mode)", true);
}

template <size_t dims>
Operator avg_pool() {
  return pool<dims>("avg_pool",
                    "y[n, c, i] = mean over taps u of x[n, c, i * stride + u - padding], places in "
                    "the padding counted as zeros, places beyond it not counted",
                    "(x, kernel, stride, padding, ceil_mode, count_include_pad=True)", false);
}

Value pooled(const char* stem, size_t dims, Value x, const Pooling& options, bool dilated) {
  const auto& stride = options.stride.empty() ? options.kernel : options.stride;
  require_options(with_dimensions(stem, dims), x, dims,
                  {options.kernel, stride, options.padding, options.dilation});
  Attributes attributes = {{"kernel", per_dimension(options.kernel, dims)},
                           {"stride", per_dimension(stride, dims)},
                           {"padding", per_dimension(options.padding, dims)},
                           {"ceil_mode", int64_t{options.ceil_mode}}};
  if (dilated) attributes.set("dilation", per_dimension(options.dilation, dims));
  return call_operator(with_dimensions(stem, dims), {x}, attributes);
}

}  // namespace

const std::vector<Operator>& pooling_operators() {
  static const std::vector<Operator> operators = {
      max_pool<1>(),
      max_pool<2>(),
      max_pool<3>(),
      avg_pool<1>(),
      avg_pool<2>(),
      avg_pool<3>(),
      {.name = "adaptive_avg_pool2d",
       .formula = "output row i is the mean over rows floor(i * in / out) to ceil((i + 1) * in / "
                  "out) - 1 of x, and columns likewise; output: the extents of y",
       .shapes = "x [N, C, H, W] -> [N, C, output...]",
       .follows = "torch.nn.functional.adaptive_avg_pool2d(x, output)",
       .attributes = {{"output", std::vector<int64_t>{1, 1}, true}},
       .infer = adaptive_type,
       .flops = adaptive_flops},
  };
  return operators;
}

Value max_pool1d(Value x, Pooling options) { return pooled("max_pool", 1, x, options, true); }
Value max_pool2d(Value x, Pooling options) { return pooled("max_pool", 2, x, options, true); }
Value max_pool3d(Value x, Pooling options) { return pooled("max_pool", 3, x, options, true); }
Value avg_pool1d(Value x, Pooling options) { return pooled("avg_pool", 1, x, options, false); }
Value avg_pool2d(Value x, Pooling options) { return pooled("avg_pool", 2, x, options, false); }
Value avg_pool3d(Value x, Pooling options) { return pooled("avg_pool", 3, x, options, false); }

Value adaptive_avg_pool2d(Value x, std::vector<int64_t> output) {
  require_options("adaptive_avg_pool2d", x, 2, {output});
  return call_operator("adaptive_avg_pool2d", {x}, {{"output", per_dimension(output, 2)}});
}

Value global_avg_pool(Value x) { return mean(x, 2, -1, true); }

}  // namespace kbench
