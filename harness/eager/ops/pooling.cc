// Pooling.
#include "harness/eager/planning.h"
#include "harness/eager/registry.h"
#include "kbench/error.h"

namespace kbench::eager {
namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kRows = 8;        // output rows an invocation, where windows overlap
constexpr int64_t kUnrolled = 200;  // most reads of an invocation that are written out

CallPlan max_pool2d(const OperatorCall& call, const DeviceTraits& traits) {
  const Shape& x = call.inputs[0].shape;
  const Shape& out = call.outputs[0].shape;
  const auto& kernel = call.attributes.list("kernel");
  const auto& stride = call.attributes.list("stride");
  const auto& padding = call.attributes.list("padding");
  const auto& dilation = call.attributes.list("dilation");
  if (x[2] * x[3] > INT32_MAX) {
    throw Error(ErrorCode::kUnsupported,
                "the eager pooling takes planes up to 2^31 elements, got " + to_string(x));
  }
  const int64_t reach = (kernel[0] - 1) * dilation[0] + 1;
  // Rows of output share rows of input where windows overlap; a software device gains nothing.
  const bool overlap = stride[0] < reach && !traits.software;
  int64_t rows = overlap && out[2] >= kRows ? kRows : 1;
  const auto reads = [&] { return ((rows - 1) * stride[0] + reach) * kernel[1]; };
  while (rows > 1 && reads() > kUnrolled) rows /= 2;
  const bool unroll = !traits.software && reads() <= kUnrolled;
  const int64_t row_blocks = ceil_div(out[2], rows);
  const int64_t items = out[0] * out[1] * row_blocks * out[3];
  const int64_t groups = ceil_div(items, kThreads);
  Launch launch = make_launch("max_pool2d.comp",
                              {{"THREADS", kThreads},
                               {"ROWS", rows},
                               {"UNROLL", unroll},
                               {"KERNEL_H", kernel[0]},
                               {"KERNEL_W", kernel[1]},
                               {"STRIDE_H", stride[0]},
                               {"STRIDE_W", stride[1]},
                               {"DILATION_H", dilation[0]},
                               {"DILATION_W", dilation[1]}},
                              {input(0), output(0)}, groups, traits);
  launch.add(x[2]).add(x[3]).add(out[2]).add(out[3]).add(padding[0]).add(padding[1]);
  launch.add(row_blocks).add(items).add(groups);
  return {{launch}, {}};
}

}  // namespace

const std::vector<EagerKernel>& pooling_kernels() {
  static const std::vector<EagerKernel> kernels = {{"max_pool2d", max_pool2d}};
  return kernels;
}

}  // namespace kbench::eager
