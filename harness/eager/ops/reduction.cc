// Reductions, scans and softmax along one dimension.
#include <algorithm>

#include "harness/eager/planning.h"
#include "harness/eager/registry.h"
#include "harness/eager/row_reduction.h"

namespace kbench::eager {
namespace {

constexpr int64_t kThreads = 256;

AxisView view_of(const OperatorCall& call) {
  return axis_view(call.inputs[0].shape, call.attributes.integer("axis"));
}

// --- sum, mean, argmax
// ----------------------------------------------------------------------------

/// Neighbouring columns for an invocation, a workgroup.
struct ColumnLayout {
  int64_t width, columns, lanes, blocks;
};

ColumnLayout column_layout(const AxisView& view, bool from_parts) {
  ColumnLayout layout;
  layout.width = view.inner % 4 == 0 && !from_parts ? 4 : 1;
  layout.columns = std::clamp<int64_t>(next_power_of_two(view.inner / layout.width), 8, 64);
  layout.lanes =
      std::clamp<int64_t>(next_power_of_two(ceil_div(view.n, 16)), 1, kThreads / layout.columns);
  layout.blocks = ceil_div(view.inner, layout.columns * layout.width);
  return layout;
}

/// One launch over [outer, n, inner], to `splits` results a column.
Launch reduce_columns(const Reduction& reduction, const AxisView& view, int64_t splits,
                      bool from_parts, bool to_parts, Operand from, Operand to,
                      const DeviceTraits& traits) {
  const ColumnLayout layout = column_layout(view, from_parts);
  const int64_t groups = view.outer * layout.blocks * splits;
  Launch launch = make_launch("reduce_columns.comp",
                              {{"COLUMNS", layout.columns},
                               {"LANES", layout.lanes},
                               {"WIDTH", layout.width},
                               {"ARGMAX", reduction.argmax},
                               {"FROM_PARTS", from_parts && reduction.argmax},
                               {"TO_PARTS", to_parts && reduction.argmax}},
                              {from, to}, groups, traits);
  launch.add(view.n).add(view.inner).add(layout.blocks).add(splits);
  launch.add(ceil_div(view.n, splits)).add(groups);
  launch.add_real(to_parts ? 1.0 : reduction.scale);
  return launch;
}

CallPlan reduce(const OperatorCall& call, const DeviceTraits& traits, const Reduction& reduction) {
  const AxisView view = view_of(call);
  if (view.inner == 1) {
    CallPlan plan;
    append_row_reduction(plan, reduction, view.outer, view.n, input(0), output(0), traits);
    return plan;
  }
  const ColumnLayout layout = column_layout(view, false);
  const int64_t busy = view.outer * layout.blocks;
  int64_t splits = std::clamp<int64_t>(kStreamGroups / busy, 1,
                                       std::max<int64_t>(1, view.n / (layout.lanes * 32)));
  splits = ceil_div(view.n, ceil_div(view.n, splits));  // none of them empty
  if (splits == 1) {
    return {{reduce_columns(reduction, view, 1, false, false, input(0), output(0), traits)}, {}};
  }
  const AxisView parts{view.outer, splits, view.inner};
  return {{reduce_columns(reduction, view, splits, false, true, input(0), scratch(0), traits),
           reduce_columns(reduction, parts, 1, true, false, scratch(0), output(0), traits)},
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

// --- cumsum
// ---------------------------------------------------------------------------------------

CallPlan cumsum(const OperatorCall& call, const DeviceTraits& traits) {
  const AxisView view = view_of(call);
  if (view.inner > 1) {
    const int64_t threads = traits.software ? 64 : 128;
    const int64_t groups = ceil_div(view.outer * view.inner, threads);
    Launch launch = make_launch("cumsum_columns.comp", {{"THREADS", threads}},
                                {input(0), output(0)}, groups, traits);
    launch.add(view.n).add(view.inner).add(view.outer * view.inner).add(groups);
    return {{launch}, {}};
  }
  // A row for a workgroup needs one read; splitting it, which needs two, pays where rows are few.
  const Split split =
      view.outer >= 512 ? Split{1, ceil_div(view.n, 4) * 4} : split_row(view.n, view.outer);
  const int64_t width = view.n % 4 == 0 ? 4 : 1;
  const int64_t threads = view.n / width <= 64 ? 64 : kThreads;
  const int64_t pieces = view.n / width <= threads ? 1 : 4;
  const int64_t groups = view.outer * split.count;
  const bool parts = split.count > 1;
  CallPlan plan;
  std::vector<Operand> addresses = {input(0), output(0)};
  if (parts) {
    plan.launches.push_back(partial_sums(view.outer, view.n, split, input(0), scratch(0), traits));
    plan.scratch_bytes = {groups * 4};
    addresses = {input(0), scratch(0), output(0)};
  }
  Launch launch =
      make_launch("cumsum_rows.comp",
                  {{"THREADS", threads}, {"PIECES", pieces}, {"WIDTH", width}, {"PARTS", parts}},
                  addresses, groups, traits);
  launch.add(view.n).add(split.count).add(split.length).add(groups);
  plan.launches.push_back(launch);
  return plan;
}

// --- softmax
// --------------------------------------------------------------------------------------

CallPlan softmax(const OperatorCall& call, const DeviceTraits& traits) {
  const AxisView view = view_of(call);
  if (view.inner > 1) {
    const int64_t columns = std::clamp<int64_t>(next_power_of_two(view.inner), 8, 32);
    const int64_t lanes =
        std::clamp<int64_t>(next_power_of_two(ceil_div(view.n, 8)), 1, kThreads / columns);
    const int64_t blocks = ceil_div(view.inner, columns);
    const int64_t groups = view.outer * blocks;
    Launch launch = make_launch("softmax_columns.comp", {{"COLUMNS", columns}, {"LANES", lanes}},
                                {input(0), output(0)}, groups, traits);
    launch.add(view.n).add(view.inner).add(blocks).add(groups);
    return {{launch}, {}};
  }
  const RowLayout layout = row_layout(view.n, traits);
  if (layout.fits) {
    const int64_t groups = layout.groups(view.outer);
    Launch launch = make_launch("softmax_rows.comp",
                                {{"THREADS", layout.threads},
                                 {"LANES", layout.lanes},
                                 {"PIECES", layout.pieces},
                                 {"WIDTH", layout.width}},
                                {input(0), output(0)}, groups, traits);
    launch.add(view.outer).add(view.n).add(groups);
    return {{launch}, {}};
  }
  const Split split = split_row(view.n, view.outer);
  const int64_t groups = view.outer * split.count;
  Launch stats = make_launch("softmax_stats.comp", {{"THREADS", kThreads}, {"WIDTH", layout.width}},
                             {input(0), scratch(0)}, groups, traits);
  Launch apply = make_launch("softmax_apply.comp", {{"THREADS", kThreads}, {"WIDTH", layout.width}},
                             {input(0), scratch(0), output(0)}, groups, traits);
  for (Launch* launch : {&stats, &apply}) {
    launch->add(view.n).add(split.count).add(split.length).add(groups);
  }
  return {{stats, apply}, {groups * 8}};
}

}  // namespace

const std::vector<EagerKernel>& reduction_kernels() {
  static const std::vector<EagerKernel> kernels = {
      {"sum", sum}, {"mean", mean}, {"argmax", argmax}, {"cumsum", cumsum}, {"softmax", softmax},
  };
  return kernels;
}

}  // namespace kbench::eager
