// Losses.
#include "harness/eager/planning.h"
#include "harness/eager/registry.h"
#include "harness/eager/row_reduction.h"

namespace kbench::eager {
namespace {

/// A loss a row, then their mean.
CallPlan cross_entropy(const OperatorCall& call, const DeviceTraits& traits) {
  const int64_t rows = call.inputs[0].shape[0], classes = call.inputs[0].shape[1];
  const int64_t width = classes % 4 == 0 ? 4 : 1;
  int64_t lanes = 8;
  while (lanes < 256 && lanes * 16 < classes) lanes *= lanes < 128 ? 4 : 2;
  const int64_t threads = std::max<int64_t>(128, lanes);
  const int64_t groups = ceil_div(rows, threads / lanes);
  Launch losses =
      make_launch("cross_entropy.comp", {{"THREADS", threads}, {"LANES", lanes}, {"WIDTH", width}},
                  {input(0), input(1), scratch(0)}, groups, traits);
  losses.add(rows).add(classes).add(groups);
  CallPlan plan{{losses}, {rows * 4}};
  append_row_reduction(plan, {.scale = 1.0 / static_cast<double>(rows)}, 1, rows, scratch(0),
                       output(0), traits);
  return plan;
}

}  // namespace

const std::vector<EagerKernel>& loss_kernels() {
  static const std::vector<EagerKernel> kernels = {{"cross_entropy", cross_entropy}};
  return kernels;
}

}  // namespace kbench::eager
