// Normalisation: moments, then one pass that applies them; a row that a workgroup can hold takes
// one launch.
#include <algorithm>

#include "harness/eager/planning.h"
#include "harness/eager/registry.h"

namespace kbench::eager {
namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kPieces = 4;  // loads an invocation has in flight

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

/// x, and weight and bias where there are, then `last`.
std::vector<Operand> operands(const OperatorCall& call, std::initializer_list<Operand> after_x,
                              Operand last) {
  std::vector<Operand> list = {input(0)};
  list.insert(list.end(), after_x);
  if (call.inputs.size() > 2) {
    list.push_back(input(1));
    list.push_back(input(2));
  }
  list.push_back(last);
  return list;
}

/// The launch that applies statistics in scratch 0 to rows of `length`.
Launch normalize(const OperatorCall& call, int64_t length, int64_t channels,
                 const DeviceTraits& traits) {
  const int64_t width = length % 4 == 0 ? 4 : 1;
  const int64_t pieces = call.inputs[0].elements() / width;
  const int64_t groups = ceil_div(pieces, kThreads * kPieces);
  Launch launch = make_launch("normalize.comp",
                              {{"THREADS", kThreads},
                               {"PIECES", kPieces},
                               {"WIDTH", width},
                               {"AFFINE", call.inputs.size() > 2},
                               {"PER_CHANNEL", channels > 0}},
                              operands(call, {scratch(0)}, output(0)), groups, traits);
  launch.add(pieces).add(length / width).add(std::max<int64_t>(channels, 1)).add(groups);
  return launch;
}

CallPlan batch_norm(const OperatorCall& call, const DeviceTraits& traits) {
  const AxisView view = axis_view(call.inputs[0].shape, 1);
  const Statistics statistics{view.n, view.outer, view.inner, view.inner, view.n * view.inner};
  CallPlan plan = plan_moments(statistics, call.attributes.real("eps"), traits);
  plan.launches.push_back(normalize(call, view.inner, view.n, traits));
  return plan;
}

CallPlan layer_norm(const OperatorCall& call, const DeviceTraits& traits) {
  const Shape& x = call.inputs[0].shape;
  const int64_t dims = call.attributes.integer("dims");
  const int64_t n = element_count(Shape(x.end() - dims, x.end()));
  const int64_t rows = call.inputs[0].elements() / n;
  const double eps = call.attributes.real("eps");
  const RowLayout layout = row_layout(n, traits);
  if (layout.fits) {
    const int64_t groups = layout.groups(rows);
    Launch launch = make_launch("layer_norm_rows.comp",
                                {{"THREADS", layout.threads},
                                 {"LANES", layout.lanes},
                                 {"PIECES", layout.pieces},
                                 {"WIDTH", layout.width},
                                 {"AFFINE", call.inputs.size() > 2}},
                                operands(call, {}, output(0)), groups, traits);
    launch.add(rows).add(n).add(groups).add_real(eps);
    return {{launch}, {}};
  }
  CallPlan plan = plan_moments({rows, 1, n, n, n}, eps, traits);
  plan.launches.push_back(normalize(call, n, 0, traits));
  return plan;
}

}  // namespace

const std::vector<EagerKernel>& norm_kernels() {
  static const std::vector<EagerKernel> kernels = {{"batch_norm", batch_norm},
                                                   {"layer_norm", layer_norm}};
  return kernels;
}

}  // namespace kbench::eager
