// Reductions, scans and softmax along one dimension.
#include <algorithm>

#include "harness/measure/eager/planning.h"
#include "harness/measure/eager/row_reduction.h"

namespace kbench::eager {
namespace {

AxisView view_of(const OperatorCall& call) {
  return axis_view(call.inputs[0].shape, call.attributes.integer("axis"));
}

// --- one result a line ---------------------------------------------------------------------------

/// Neighbouring columns for an invocation, a workgroup.
struct ColumnLayout {
  int64_t width, columns, lanes, blocks;
};

ColumnLayout column_layout(const AxisView& view, ReductionStage stage) {
  ColumnLayout layout;
  layout.width = view.inner % 4 == 0 && stage != ReductionStage::second ? 4 : 1;
  layout.columns = std::clamp<int64_t>(next_power_of_two(view.inner / layout.width), 8, 64);
  layout.lanes =
      std::clamp<int64_t>(next_power_of_two(ceil_div(view.n, 16)), 1, kThreads / layout.columns);
  layout.blocks = ceil_div(view.inner, layout.columns * layout.width);
  return layout;
}

/// One launch over [outer, n, inner], to `splits` results a column.
Launch reduce_columns(const Reduction& reduction, ReductionStage stage, const AxisView& view,
                      int64_t splits, LaunchOperand from, LaunchOperand to,
                      const DeviceTraits& traits) {
  const ColumnLayout layout = column_layout(view, stage);
  const int64_t groups = view.outer * layout.blocks * splits;
  Launch launch =
      make_launch("reduce_columns.comp",
                  {{"COLUMNS", layout.columns}, {"LANES", layout.lanes}, {"WIDTH", layout.width}},
                  {from, to}, groups, traits);
  add_reduction_macros(launch, reduction, stage);
  launch.add(view.n).add(view.inner).add(layout.blocks).add(splits);
  launch.add(ceil_div(view.n, splits)).add(groups);
  launch.add_real(stage == ReductionStage::first ? 1.0 : reduction.scale);
  return launch;
}

CallPlan reduce(const OperatorCall& call, const DeviceTraits& traits, const Reduction& reduction) {
  const AxisView view = view_of(call);
  if (view.inner == 1) {
    CallPlan plan;
    append_row_reduction(plan, reduction, view.outer, view.n, input(0), output(0), traits);
    return plan;
  }
  const ColumnLayout layout = column_layout(view, ReductionStage::whole);
  const int64_t busy = view.outer * layout.blocks;
  int64_t splits = std::clamp<int64_t>(kStreamGroups / busy, 1,
                                       std::max<int64_t>(1, view.n / (layout.lanes * 32)));
  splits = ceil_div(view.n, ceil_div(view.n, splits));  // none of them empty
  if (splits == 1) {
    return {
        {reduce_columns(reduction, ReductionStage::whole, view, 1, input(0), output(0), traits)},
        {}};
  }
  const AxisView parts{view.outer, splits, view.inner};
  return {
      {reduce_columns(reduction, ReductionStage::first, view, splits, input(0), scratch(0), traits),
       reduce_columns(reduction, ReductionStage::second, parts, 1, scratch(0), output(0), traits)},
      {view.outer * splits * view.inner * reduction.part_bytes()}};
}

CallPlan sum(const OperatorCall& call, const DeviceTraits& traits) {
  return reduce(call, traits, {});
}
CallPlan mean(const OperatorCall& call, const DeviceTraits& traits) {
  return reduce(call, traits, {false, 1.0 / static_cast<double>(view_of(call).n)});
}
CallPlan argmax(const OperatorCall& call, const DeviceTraits& traits) {
  return reduce(call, traits, {true, 1});
}
CallPlan argmin(const OperatorCall& call, const DeviceTraits& traits) {
  return reduce(call, traits, {.argmax = true, .negated = true});
}
CallPlan largest(const OperatorCall& call, const DeviceTraits& traits) {
  return reduce(call, traits, {.extreme = true});
}
CallPlan smallest(const OperatorCall& call, const DeviceTraits& traits) {
  return reduce(call, traits, {.extreme = true, .negated = true});
}
CallPlan norm(const OperatorCall& call, const DeviceTraits& traits) {
  return reduce(call, traits, {.norm = true});
}

// --- scans ---------------------------------------------------------------------------------------

CallPlan scan(const OperatorCall& call, bool product, const DeviceTraits& traits) {
  const AxisView view = view_of(call);
  if (view.inner > 1) {
    const int64_t threads = traits.software ? 64 : 128;
    const int64_t groups = ceil_div(view.outer * view.inner, threads);
    Launch launch = make_launch("cumsum_columns.comp", {{"THREADS", threads}, {"PRODUCT", product}},
                                {input(0), output(0)}, groups, traits);
    launch.add(view.n).add(view.inner).add(view.outer * view.inner).add(groups);
    return {{launch}, {}};
  }
  // A row for a workgroup needs one read; splitting it, which needs two, pays where rows are few.
  const Split split =
      view.outer >= 512 || product ? whole_row(view.n) : split_row(view.n, view.outer);
  const int64_t width = view.n % 4 == 0 ? 4 : 1;
  const int64_t threads = view.n / width <= 64 ? 64 : kThreads;
  const int64_t pieces = view.n / width <= threads ? 1 : 4;
  const int64_t groups = view.outer * split.count;
  const bool parts = split.count > 1;
  CallPlan plan;
  std::vector<LaunchOperand> addresses = {input(0), output(0)};
  if (parts) {
    plan.launches.push_back(partial_sums(view.outer, view.n, split, input(0), scratch(0), traits));
    plan.scratch_bytes = {groups * 4};
    addresses.push_back(scratch(0));
  }
  Launch launch = make_launch("cumsum_rows.comp",
                              {{"THREADS", threads},
                               {"PIECES", pieces},
                               {"WIDTH", width},
                               {"PARTS", parts},
                               {"PRODUCT", product}},
                              addresses, groups, traits);
  launch.add(view.n).add(split.count).add(split.length).add(groups);
  plan.launches.push_back(launch);
  return plan;
}

CallPlan cumsum(const OperatorCall& call, const DeviceTraits& traits) {
  return scan(call, false, traits);
}
CallPlan cumprod(const OperatorCall& call, const DeviceTraits& traits) {
  return scan(call, true, traits);
}

// --- softmax -------------------------------------------------------------------------------------

/// Of columns: softmax, its logarithm, or the log-sum-exp.
Launch softmax_columns(const AxisView& view, bool logarithm, bool logsum,
                       const DeviceTraits& traits) {
  const int64_t columns = std::clamp<int64_t>(next_power_of_two(view.inner), 8, 32);
  const int64_t lanes =
      std::clamp<int64_t>(next_power_of_two(ceil_div(view.n, 8)), 1, kThreads / columns);
  const int64_t blocks = ceil_div(view.inner, columns);
  const int64_t groups = view.outer * blocks;
  Launch launch = make_launch(
      "softmax_columns.comp",
      {{"COLUMNS", columns}, {"LANES", lanes}, {"LOGARITHM", logarithm}, {"LOGSUM", logsum}},
      {input(0), output(0)}, groups, traits);
  launch.add(view.n).add(view.inner).add(blocks).add(groups);
  return launch;
}

/// The launch that leaves a pair a stretch of each row in scratch 0.
Launch softmax_stats(const AxisView& view, const Split& split, int64_t width,
                     const DeviceTraits& traits) {
  const int64_t groups = view.outer * split.count;
  Launch launch = make_launch("softmax_stats.comp", {{"THREADS", kThreads}, {"WIDTH", width}},
                              {input(0), scratch(0)}, groups, traits);
  launch.add(view.n).add(split.count).add(split.length).add(groups);
  return launch;
}

/// Invocations that share a row that is only read.
int64_t reading_lanes(int64_t n) {
  int64_t lanes = 8;
  while (lanes < kThreads && lanes * 16 < n) lanes *= lanes < 128 ? 4 : 2;
  return lanes;
}

Launch logsumexp_rows(const AxisView& view, int64_t n, bool parts, LaunchOperand from,
                      const DeviceTraits& traits) {
  const int64_t lanes = reading_lanes(n), threads = std::max<int64_t>(128, lanes);
  const int64_t groups = ceil_div(view.outer, threads / lanes);
  Launch launch = make_launch("logsumexp_rows.comp",
                              {{"THREADS", threads},
                               {"LANES", lanes},
                               {"WIDTH", n % 4 == 0 && !parts ? 4 : 1},
                               {"PARTS", parts}},
                              {from, output(0)}, groups, traits);
  launch.add(view.outer).add(n).add(groups);
  return launch;
}

CallPlan logsumexp(const OperatorCall& call, const DeviceTraits& traits) {
  const AxisView view = view_of(call);
  if (view.inner > 1) return {{softmax_columns(view, false, true, traits)}, {}};
  const Split split = split_row(view.n, view.outer);
  if (split.count == 1) return {{logsumexp_rows(view, view.n, false, input(0), traits)}, {}};
  return {{softmax_stats(view, split, view.n % 4 == 0 ? 4 : 1, traits),
           logsumexp_rows(view, split.count, true, scratch(0), traits)},
          {view.outer * split.count * 8}};
}

CallPlan softmax_of(const OperatorCall& call, bool logarithm, const DeviceTraits& traits) {
  const AxisView view = view_of(call);
  if (view.inner > 1) return {{softmax_columns(view, logarithm, false, traits)}, {}};
  const RowLayout layout = row_layout(view.n, traits);
  if (layout.fits) {
    const int64_t groups = layout.groups(view.outer);
    Launch launch = make_launch("softmax_rows.comp",
                                {{"THREADS", layout.threads},
                                 {"LANES", layout.lanes},
                                 {"PIECES", layout.pieces},
                                 {"WIDTH", layout.width},
                                 {"LOGARITHM", logarithm}},
                                {input(0), output(0)}, groups, traits);
    launch.add(view.outer).add(view.n).add(groups);
    return {{launch}, {}};
  }
  const Split split = split_row(view.n, view.outer);
  const int64_t groups = view.outer * split.count;
  Launch apply =
      make_launch("softmax_apply.comp",
                  {{"THREADS", kThreads}, {"WIDTH", layout.width}, {"LOGARITHM", logarithm}},
                  {input(0), scratch(0), output(0)}, groups, traits);
  apply.add(view.n).add(split.count).add(split.length).add(groups);
  return {{softmax_stats(view, split, layout.width, traits), apply}, {groups * 8}};
}

CallPlan softmax(const OperatorCall& call, const DeviceTraits& traits) {
  return softmax_of(call, false, traits);
}
CallPlan log_softmax(const OperatorCall& call, const DeviceTraits& traits) {
  return softmax_of(call, true, traits);
}

}  // namespace

const std::vector<EagerKernel>& reduction_kernels() {
  static const std::vector<EagerKernel> kernels = {
      {"sum", sum},         {"mean", mean},           {"argmax", argmax},
      {"cumsum", cumsum},   {"softmax", softmax},     {"max", largest},
      {"min", smallest},    {"norm", norm},           {"argmin", argmin},
      {"cumprod", cumprod}, {"logsumexp", logsumexp}, {"log_softmax", log_softmax},
  };
  return kernels;
}

}  // namespace kbench::eager
