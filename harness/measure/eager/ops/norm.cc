// Normalisation: moments, then one pass that applies them; a row that a workgroup can hold takes
// one launch.
#include <algorithm>

#include "harness/measure/eager/planning.h"

namespace kbench::eager {
namespace {

constexpr int64_t kColumnGroups = 1024, kMergeThreads = 64;  // of a norm over columns

/// Where the values of each statistic lie, as shaders/moments.comp takes it.
struct Statistics {
  int64_t count;           ///< how many statistics
  int64_t segments;        ///< stretches each is taken over
  int64_t length;          ///< elements of a stretch
  int64_t stride;          ///< elements between the first stretches of neighbouring statistics
  int64_t segment_stride;  ///< elements between stretches
};

/// From moments to `stats`, scratch 0: (mean, scale) a statistic.
CallPlan plan_moments(const Statistics& s, double eps, const DeviceTraits& traits) {
  const int64_t width = s.length % 4 == 0 ? 4 : 1;
  const Split split = split_row(s.segments * s.length, s.count);
  const bool parts = split.count > 1;
  const int64_t groups = s.count * split.count;
  Launch moments =
      make_launch("moments.comp", {{"THREADS", kThreads}, {"WIDTH", width}, {"FINISH", !parts}},
                  {input(0), scratch(parts ? 1 : 0)}, groups, traits);
  moments.add(s.segments).add(s.length / width).add(s.stride).add(s.segment_stride);
  moments.add(split.count).add(split.length / width).add(groups).add_real(eps);
  if (!parts) return {{moments}, {s.count * 8}};
  Launch merge = make_launch("moments_merge.comp", {{"THREADS", kThreads}},
                             {scratch(1), scratch(0)}, s.count, traits);
  merge.add(split.count).add(s.count).add_real(eps);
  return {{moments, merge}, {s.count * 8, groups * 12}};
}

/// `list`, and weight and bias where there are.
std::vector<LaunchOperand> with_affine(std::vector<LaunchOperand> list, const OperatorCall& call) {
  if (call.inputs.size() > 2) list.insert(list.end(), {input(1), input(2)});
  return list;
}

/// The launch that applies statistics in scratch 0 to rows of `length`. `statistic_rows`: how many
/// neighbouring rows share one; 0 where a channel has one.
Launch normalize(const OperatorCall& call, int64_t length, int64_t channels,
                 const DeviceTraits& traits, int64_t statistic_rows = 0, bool per_column = false) {
  const int64_t width = length % 4 == 0 ? 4 : 1;
  const int64_t pieces = call.inputs[0].elements() / width;
  const int64_t loads = loads_in_flight(call);
  const int64_t groups = ceil_div(pieces, kThreads * loads);
  Launch launch = make_launch("normalize.comp",
                              {{"THREADS", kThreads},
                               {"PIECES", loads},
                               {"WIDTH", width},
                               {"AFFINE", call.inputs.size() > 2},
                               {"PER_CHANNEL", channels > 0},
                               {"PER_SAMPLE", statistic_rows > 0},
                               {"PER_COLUMN", per_column}},
                              with_affine({input(0), scratch(0), output(0)}, call), groups, traits);
  launch.add(pieces).add(length / width).add(std::max<int64_t>(channels, 1));
  launch.add(std::max<int64_t>(statistic_rows, 1)).add(groups);
  return launch;
}

/// Statistics of columns, x being [rows, columns].
CallPlan column_norm(const OperatorCall& call, const DeviceTraits& traits) {
  const int64_t n = call.inputs[0].shape[0], columns = call.inputs[0].shape[1];
  const int64_t width = columns % 4 == 0 ? 4 : 1;
  const int64_t across = std::clamp<int64_t>(next_power_of_two(columns / width), 8, 64);
  const int64_t lanes =
      std::clamp<int64_t>(next_power_of_two(ceil_div(n, 16)), 1, kThreads / across);
  const int64_t blocks = ceil_div(columns, across * width);
  int64_t splits =
      std::clamp<int64_t>(kColumnGroups / blocks, 1, std::max<int64_t>(1, n / (lanes * 16)));
  const int64_t length = ceil_div(n, splits);
  splits = ceil_div(n, length);
  const int64_t groups = blocks * splits;
  Launch moments =
      make_launch("moments_columns.comp", {{"COLUMNS", across}, {"LANES", lanes}, {"WIDTH", width}},
                  {input(0), scratch(1)}, groups, traits);
  moments.add(n).add(columns).add(blocks).add(splits).add(length).add(groups);
  Launch merge = make_launch("moments_merge.comp", {{"THREADS", kMergeThreads}},
                             {scratch(1), scratch(0)}, columns, traits);
  merge.add(splits).add(columns).add_real(call.attributes.real("eps"));
  return {{moments, merge, normalize(call, columns, 0, traits, 0, true)},
          {columns * 8, columns * splits * 12}};
}

CallPlan batch_norm(const OperatorCall& call, const DeviceTraits& traits) {
  if (call.inputs[0].shape.size() == 2) return column_norm(call, traits);
  const AxisView view = axis_view(call.inputs[0].shape, 1);
  const Statistics statistics{view.n, view.outer, view.inner, view.inner, view.n * view.inner};
  CallPlan plan = plan_moments(statistics, call.attributes.real("eps"), traits);
  plan.launches.push_back(normalize(call, view.inner, view.n, traits));
  return plan;
}

/// One launch over `rows` of n that fit registers; weight and bias start again every `weight_rows`.
Launch held_rows(const OperatorCall& call, int64_t rows, int64_t n, int64_t weight_rows,
                 const DeviceTraits& traits) {
  const RowLayout layout = row_layout(n, traits);
  const int64_t groups = layout.groups(rows);
  Launch launch = make_launch("layer_norm_rows.comp",
                              {{"THREADS", layout.threads},
                               {"LANES", layout.lanes},
                               {"PIECES", layout.pieces},
                               {"WIDTH", layout.width},
                               {"AFFINE", call.inputs.size() > 2}},
                              with_affine({input(0), output(0)}, call), groups, traits);
  launch.add(rows).add(n).add(groups).add(weight_rows).add_real(call.attributes.real("eps"));
  return launch;
}

/// Statistics of each sample over `channels` neighbouring channels.
CallPlan sample_norm(const OperatorCall& call, int64_t channels, const DeviceTraits& traits) {
  const AxisView view = axis_view(call.inputs[0].shape, 1);
  const int64_t n = channels * view.inner, rows = view.outer * view.n / channels;
  const bool affine = call.inputs.size() > 2;
  if (row_layout(n, traits).fits && (!affine || view.inner == 1)) {
    return {{held_rows(call, rows, n, view.n / channels, traits)}, {}};
  }
  CallPlan plan = plan_moments({rows, 1, n, n, n}, call.attributes.real("eps"), traits);
  plan.launches.push_back(normalize(call, view.inner, view.n, traits, channels));
  return plan;
}

CallPlan instance_norm(const OperatorCall& call, const DeviceTraits& traits) {
  return sample_norm(call, 1, traits);
}
CallPlan group_norm(const OperatorCall& call, const DeviceTraits& traits) {
  return sample_norm(call, call.inputs[0].shape[1] / call.attributes.integer("groups"), traits);
}

CallPlan layer_norm(const OperatorCall& call, const DeviceTraits& traits) {
  const Shape& x = call.inputs[0].shape;
  const int64_t dims = call.attributes.integer("dims");
  const int64_t n = element_count(Shape(x.end() - dims, x.end()));
  const int64_t rows = call.inputs[0].elements() / n;
  const double eps = call.attributes.real("eps");
  if (row_layout(n, traits).fits) return {{held_rows(call, rows, n, 1, traits)}, {}};
  CallPlan plan = plan_moments({rows, 1, n, n, n}, eps, traits);
  plan.launches.push_back(normalize(call, n, 0, traits));
  return plan;
}

}  // namespace

const std::vector<EagerKernel>& norm_kernels() {
  static const std::vector<EagerKernel> kernels = {{"batch_norm", batch_norm},
                                                   {"layer_norm", layer_norm},
                                                   {"instance_norm", instance_norm},
                                                   {"group_norm", group_norm}};
  return kernels;
}

}  // namespace kbench::eager
