// Pooling in 1, 2 and 3 dimensions.
#include "kbench/ops.h"
#include "libkbench/ops/windows.h"

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
    require_shape(2 * window.padding[i] <= window.kernel[i],
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

template <size_t dims>
Operator pool(const char* stem, std::string formula, bool dilated) {
  const std::vector<int64_t> ones(dims, 1), zeros(dims, 0);
  Operator op{.name = with_dimensions(stem, dims),
              .formula = std::move(formula),
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
                    "y[n, c, i] = max over u of x[n, c, i * stride + u * dilation - padding] in "
                    "each spatial dimension, positions outside ignored; NaN wins",
                    true);
}

template <size_t dims>
Operator avg_pool() {
  return pool<dims>("avg_pool",
                    "y[n, c, i] = mean over u of x[n, c, i * stride + u - padding] in each spatial "
                    "dimension, padding counted as zeros",
                    false);
}

Value pooled(const char* stem, size_t dims, Value x, const Pool& options, bool dilated) {
  const auto& stride = options.stride.empty() ? options.kernel : options.stride;
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
       .formula =
           "the mean over rows floor(i * in / out) to ceil((i + 1) * in / out) - 1 of output "
           "row i, and columns likewise",
       .attributes = {{"output", std::vector<int64_t>{1, 1}, true}},
       .infer = adaptive_type,
       .flops = flops_per_input<1>},
  };
  return operators;
}

Value max_pool1d(Value x, Pool options) { return pooled("max_pool", 1, x, options, true); }
Value max_pool2d(Value x, Pool options) { return pooled("max_pool", 2, x, options, true); }
Value max_pool3d(Value x, Pool options) { return pooled("max_pool", 3, x, options, true); }
Value avg_pool1d(Value x, Pool options) { return pooled("avg_pool", 1, x, options, false); }
Value avg_pool2d(Value x, Pool options) { return pooled("avg_pool", 2, x, options, false); }
Value avg_pool3d(Value x, Pool options) { return pooled("avg_pool", 3, x, options, false); }

Value adaptive_avg_pool2d(Value x, std::vector<int64_t> output) {
  return call_operator("adaptive_avg_pool2d", {x}, {{"output", per_dimension(output, 2)}});
}

Value global_avg_pool(Value x) { return mean(x, 2, -1, true); }

}  // namespace kbench
