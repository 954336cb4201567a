// Pooling.
#include "harness/measure/eager/planning.h"
#include "harness/measure/eager/row_reduction.h"
#include "kbench/error.h"

namespace kbench::eager {
namespace {

constexpr int64_t kUnrolled = 200;  // most reads of a volume's window that are written out

/// A pooling over planes: one over rows has planes of one row.
struct Planar {
  Shape x, out;
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool average;
};

CallPlan pool_planes(const Planar& pool, const DeviceTraits& traits) {
  const auto& [x, out, kernel, stride, padding, dilation, average] = pool;
  if (x[2] * x[3] > INT32_MAX) {
    throw Error(ErrorCode::kUnsupported,
                "the eager pooling takes planes up to 2^31 elements, got " + to_string(x));
  }
  const WindowRows rows = window_rows(kernel[0], kernel[1], stride[0], dilation[0], out[2], traits);
  const int64_t items = out[0] * out[1] * rows.blocks * out[3];
  const int64_t groups = ceil_div(items, kThreads);
  Launch launch = make_launch("pool2d.comp",
                              {{"THREADS", kThreads},
                               {"ROWS", rows.count},
                               {"UNROLL", rows.unroll},
                               {"AVERAGE", average},
                               {"KERNEL_H", kernel[0]},
                               {"KERNEL_W", kernel[1]},
                               {"STRIDE_H", stride[0]},
                               {"STRIDE_W", stride[1]},
                               {"DILATION_H", dilation[0]},
                               {"DILATION_W", dilation[1]}},
                              {input(0), output(0)}, groups, traits);
  launch.add(x[2]).add(x[3]).add(out[2]).add(out[3]).add(padding[0]).add(padding[1]);
  launch.add(rows.blocks).add(items).add(groups);
  return {{launch}, {}};
}

/// The attribute, one value for each of `dims` spatial dimensions; ones where the operator has
/// none.
std::vector<int64_t> per_dimension(const OperatorCall& call, std::string_view name, size_t dims) {
  if (!call.attributes.find(name)) return std::vector<int64_t>(dims, 1);
  std::vector<int64_t> values = call.attributes.list(name);
  if (values.size() == 1) values.resize(dims, values[0]);
  return values;
}

CallPlan planar(const OperatorCall& call, size_t dims, bool average, const DeviceTraits& traits) {
  Planar pool{call.inputs[0].shape,
              call.outputs[0].shape,
              per_dimension(call, "kernel", dims),
              per_dimension(call, "stride", dims),
              per_dimension(call, "padding", dims),
              per_dimension(call, "dilation", dims),
              average};
  if (dims == 1) {
    pool.x.insert(pool.x.begin() + 2, 1);
    pool.out.insert(pool.out.begin() + 2, 1);
    for (auto* values : {&pool.kernel, &pool.stride, &pool.dilation}) {
      values->insert(values->begin(), 1);
    }
    pool.padding.insert(pool.padding.begin(), 0);
  }
  return pool_planes(pool, traits);
}

CallPlan volumes(const OperatorCall& call, bool average, const DeviceTraits& traits) {
  const Shape& x = call.inputs[0].shape;
  const Shape& out = call.outputs[0].shape;
  const auto kernel = per_dimension(call, "kernel", 3);
  if (x[2] * x[3] * x[4] > INT32_MAX) {
    throw Error(ErrorCode::kUnsupported,
                "the eager pooling takes volumes up to 2^31 elements, got " + to_string(x));
  }
  const int64_t window = saturated_product({kernel[0], kernel[1], kernel[2]});
  const int64_t items = call.outputs[0].elements();
  const int64_t groups = ceil_div(items, kThreads);
  Launch launch = make_launch("pool3d.comp",
                              {{"THREADS", kThreads},
                               {"UNROLL", !traits.software && window <= kUnrolled},
                               {"AVERAGE", average},
                               {"KERNEL_D", kernel[0]},
                               {"KERNEL_H", kernel[1]},
                               {"KERNEL_W", kernel[2]}},
                              {input(0), output(0)}, groups, traits);
  for (int i = 2; i < 5; ++i) launch.add(x[i]);
  for (int i = 2; i < 5; ++i) launch.add(out[i]);
  for (const char* name : {"stride", "padding", "dilation"}) {
    for (const int64_t value : per_dimension(call, name, 3)) launch.add(value);
  }
  launch.add(items).add(groups);
  return {{launch}, {}};
}

template <size_t dims, bool average>
CallPlan pool(const OperatorCall& call, const DeviceTraits& traits) {
  if (dims == 3) return volumes(call, average, traits);
  return planar(call, dims, average, traits);
}

/// Cells of one size are windows; one cell is a mean.
CallPlan adaptive_avg_pool2d(const OperatorCall& call, const DeviceTraits& traits) {
  const Shape& x = call.inputs[0].shape;
  const Shape& out = call.outputs[0].shape;
  if (out[2] * out[3] == 1) {
    CallPlan plan;
    append_row_reduction(plan, {.scale = 1.0 / static_cast<double>(x[2] * x[3])}, x[0] * x[1],
                         x[2] * x[3], input(0), output(0), traits);
    return plan;
  }
  if (x[2] % out[2] == 0 && x[3] % out[3] == 0) {
    const std::vector<int64_t> cell = {x[2] / out[2], x[3] / out[3]};
    return pool_planes({x, out, cell, cell, {0, 0}, {1, 1}, true}, traits);
  }
  if (x[2] * x[3] > INT32_MAX || saturated_product({out[2] + 1, x[2]}) > INT32_MAX ||
      saturated_product({out[3] + 1, x[3]}) > INT32_MAX) {
    throw Error(ErrorCode::kUnsupported,
                "the eager pooling takes planes up to 2^31 elements, got " + to_string(x));
  }
  const int64_t items = call.outputs[0].elements();
  const int64_t groups = ceil_div(items, kThreads);
  Launch launch = make_launch("adaptive_pool2d.comp", {{"THREADS", kThreads}},
                              {input(0), output(0)}, groups, traits);
  launch.add(x[2]).add(x[3]).add(out[2]).add(out[3]).add(items).add(groups);
  return {{launch}, {}};
}

}  // namespace

const std::vector<EagerKernel>& pooling_kernels() {
  static const std::vector<EagerKernel> kernels = {
      {"max_pool1d", pool<1, false>},
      {"max_pool2d", pool<2, false>},
      {"max_pool3d", pool<3, false>},
      {"avg_pool1d", pool<1, true>},
      {"avg_pool2d", pool<2, true>},
      {"avg_pool3d", pool<3, true>},
      {"adaptive_avg_pool2d", adaptive_avg_pool2d},
  };
  return kernels;
}

}  // namespace kbench::eager
