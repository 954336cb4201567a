// Losses.
#include <algorithm>

#include "harness/measure/eager/planning.h"
#include "harness/measure/eager/row_reduction.h"

namespace kbench::eager {
namespace {

/// A sum of element losses, `loss` as shaders/pair_loss.comp names it, times `scale`.
CallPlan pair_loss(const OperatorCall& call, const char* loss, double scale,
                   const DeviceTraits& traits) {
  const int64_t n = call.inputs[0].elements();
  const Split split = split_row(n, 1);
  Launch launch = make_launch("pair_loss.comp", {{"THREADS", kThreads}},
                              {input(0), input(1), scratch(0)}, split.count, traits);
  launch.macros.emplace_back("LOSS", loss);
  launch.add(n / 4).add(n % 4).add(split.length / 4).add(split.count);
  CallPlan plan{{launch}, {split.count * 4}};
  append_row_reduction(plan, {.scale = scale}, 1, split.count, scratch(0), output(0), traits);
  return plan;
}

CallPlan smooth_l1_loss(const OperatorCall& call, const DeviceTraits& traits) {
  return pair_loss(call, "smooth_l1", 1.0 / static_cast<double>(call.inputs[0].elements()), traits);
}
CallPlan kl_div_batchmean(const OperatorCall& call, const DeviceTraits& traits) {
  const Shape& x = call.inputs[0].shape;
  return pair_loss(call, "kl_div", 1.0 / static_cast<double>(x.empty() ? 1 : x[0]), traits);
}

/// A loss a row, then their mean.
CallPlan triplet_margin_loss(const OperatorCall& call, const DeviceTraits& traits) {
  const int64_t rows = call.inputs[0].shape[0], n = call.inputs[0].shape[1];
  int64_t lanes = 8;
  while (lanes < kThreads && lanes * 16 < n) lanes *= lanes < 128 ? 4 : 2;
  const int64_t threads = std::max<int64_t>(128, lanes);
  const int64_t groups = ceil_div(rows, threads / lanes);
  Launch losses =
      make_launch("triplet_margin.comp",
                  {{"THREADS", threads}, {"LANES", lanes}, {"WIDTH", n % 4 == 0 ? 4 : 1}},
                  {input(0), input(1), input(2), scratch(0)}, groups, traits);
  losses.add(rows).add(n).add(groups).add_real(call.attributes.real("margin"));
  CallPlan plan{{losses}, {rows * 4}};
  append_row_reduction(plan, {.scale = 1.0 / static_cast<double>(rows)}, 1, rows, scratch(0),
                       output(0), traits);
  return plan;
}

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
  static const std::vector<EagerKernel> kernels = {
      {"cross_entropy", cross_entropy},
      {"smooth_l1_loss", smooth_l1_loss},
      {"kl_div_batchmean", kl_div_batchmean},
      {"triplet_margin_loss", triplet_margin_loss},
  };
  return kernels;
}

}  // namespace kbench::eager
