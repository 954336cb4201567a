// Recurrent layers: a matrix product for what the input adds to the gates at every step, then a
// launch a step for both directions.
#include <algorithm>

#include "harness/measure/eager/gemm.h"
#include "harness/measure/eager/planning.h"
#include "harness/measure/eager/strided_copy.h"
#include "kbench/error.h"

namespace kbench::eager {
namespace {

constexpr int64_t kLanes = 32;           // invocations that share a row of a weight
constexpr int64_t kMostBatch = 10;       // samples a workgroup takes
constexpr int64_t kMostSteps = 1 << 16;  // of all layers: each is a launch

struct Layers {
  bool batch_first;
  int64_t gates, batch, steps, features, hidden, layers, directions;
  int first_weight;  ///< index of the first layer's weight_ih
  DType stored;      ///< of operands

  int64_t cell(int64_t layer, int64_t direction) const { return layer * directions + direction; }
  /// Elements of a sample and step in a layer's output.
  int64_t row() const { return hidden * directions; }
  /// Rows of [batch, steps] or [steps, batch]: from a sample to the next, and a step's first.
  int64_t sample_rows() const { return batch_first ? steps : 1; }
  int64_t step_row(int64_t step) const { return batch_first ? step : step * batch; }
  /// The step that a direction takes `i`-th.
  int64_t step_of(int64_t i, int64_t direction) const { return direction ? steps - 1 - i : i; }
  int weight(int64_t layer, int64_t direction, int which) const {
    return first_weight + 4 * static_cast<int>(cell(layer, direction)) + which;
  }
};

// Scratch: outputs of every other layer in turn; what the input adds to the gates, a direction; the
// LSTM's c between the steps of a layer. In float32: what goes from step to step is not rounded.
constexpr int kOutputs = 0, kProjected = 2;
int memory_scratch(const Layers& s) { return kProjected + static_cast<int>(s.directions); }

/// The gates' part that comes from the layer's input, for all samples and steps.
Launch project(const Layers& s, int64_t layer, int64_t direction, LaunchOperand from,
               const DeviceTraits& traits) {
  GemmProblem problem;
  problem.m = s.batch * s.steps;
  problem.n = s.gates * s.hidden;
  problem.k = layer == 0 ? s.features : s.row();
  problem.b_along_n = false;
  problem.stored = layer == 0 ? s.stored : DType::f32;  // between layers: float32 scratch
  problem.a = from;
  problem.b = input(s.weight(layer, direction, 0));
  problem.bias = input(s.weight(layer, direction, 2));
  problem.c = scratch(kProjected + static_cast<int>(direction));
  const TileChoice choice =
      choose_tile(problem.m, problem.n, problem.k, 1, problem.stored, false, traits);
  Launch launch = plan_gemm(problem, choice, traits).launches[0];
  launch.beside_last = direction > 0;
  return launch;
}

Launch step(const Layers& s, int64_t layer, int64_t i, LaunchOperand to,
            const DeviceTraits& traits) {
  const int64_t units = traits.subgroup_size > kLanes ? 2 : 1;
  const int64_t batch = std::min(s.batch, kMostBatch);
  const int64_t groups = ceil_div(s.hidden, units) * ceil_div(s.batch, batch) * s.directions;
  std::vector<LaunchOperand> addresses;
  for (int64_t d = 0; d < s.directions; ++d) {
    const int64_t at = s.step_of(i, d), state = s.cell(layer, d) * s.batch * s.hidden;
    const auto output_at = [&](int64_t step) {
      return from_element(to, s.step_row(step) * s.row() + d * s.hidden);
    };
    addresses.push_back(from_element(scratch(kProjected + static_cast<int>(d)),
                                     s.step_row(at) * s.gates * s.hidden));
    addresses.push_back(input(s.weight(layer, d, 1)));
    addresses.push_back(input(s.weight(layer, d, 3)));
    addresses.push_back(i == 0 ? from_element(input(1), state) : output_at(s.step_of(i - 1, d)));
    addresses.push_back(output_at(at));
    if (s.gates == 4) {
      const auto between = from_element(scratch(memory_scratch(s)), d * s.batch * s.hidden);
      addresses.push_back(i == 0 ? from_element(input(2), state) : between);
      addresses.push_back(i + 1 == s.steps ? from_element(output(2), state) : between);
    }
  }
  Launch launch = make_launch("recurrent_step.comp",
                              {{"LANES", kLanes},
                               {"GATES", s.gates},
                               {"UNITS", units},
                               {"BATCH", batch},
                               {"DIRECTIONS", s.directions},
                               {"HIDDEN", s.hidden},
                               {"WIDTH", s.hidden % 4 == 0 ? 4 : 1}},
                              addresses, groups, traits);
  launch.add(s.batch).add(s.sample_rows() * s.gates * s.hidden);
  launch.add(i == 0 ? s.hidden : s.sample_rows() * s.row()).add(s.sample_rows() * s.row());
  return launch;
}

CallPlan recurrent(const OperatorCall& call, int64_t gates, int states,
                   const DeviceTraits& traits) {
  const Attributes& attributes = call.attributes;
  const Shape& x = call.inputs[0].shape;
  const bool batch_first = attributes.flag("batch_first");
  const Layers s{batch_first,
                 gates,
                 x[batch_first ? 0 : 1],
                 x[batch_first ? 1 : 0],
                 x[2],
                 attributes.integer("hidden"),
                 attributes.integer("layers"),
                 attributes.flag("bidirectional") ? 2 : 1,
                 1 + states,
                 call.inputs[0].dtype};
  if (s.hidden * s.hidden * gates > UINT32_MAX || s.batch * s.hidden > UINT32_MAX) {
    throw Error(ErrorCode::kUnsupported,
                "the eager recurrent step takes weights and states up to 2^32 elements");
  }
  if (saturated_product({s.steps, s.layers}) > kMostSteps) {
    throw Error(ErrorCode::kUnsupported, "the eager recurrent layers take up to " +
                                             std::to_string(kMostSteps) + " steps in all, got " +
                                             std::to_string(s.steps) + " a layer");
  }
  const int64_t rows = s.batch * s.steps;
  CallPlan plan;
  plan.scratch_bytes = {rows * s.row() * 4, rows * s.row() * 4};
  for (int64_t d = 0; d < s.directions; ++d) {
    plan.scratch_bytes.push_back(rows * gates * s.hidden * 4);
  }
  if (gates == 4) plan.scratch_bytes.push_back(s.directions * s.batch * s.hidden * 4);
  LaunchOperand from = input(0);
  for (int64_t layer = 0; layer < s.layers; ++layer) {
    const LaunchOperand to = layer + 1 == s.layers && call.outputs[0].dtype == DType::f32
                                 ? output(0)
                                 : scratch(kOutputs + static_cast<int>(layer % 2));
    for (int64_t d = 0; d < s.directions; ++d) {
      plan.launches.push_back(project(s, layer, d, from, traits));
    }
    for (int64_t i = 0; i < s.steps; ++i) plan.launches.push_back(step(s, layer, i, to, traits));
    for (int64_t d = 0; d < s.directions; ++d) {
      const int64_t last = s.step_row(s.step_of(s.steps - 1, d)) * s.row() + d * s.hidden;
      plan.launches.push_back(
          copy_launch({{s.batch, s.sample_rows() * s.row(), s.hidden}, {s.hidden, 1, 1}},
                      from_element(to, last),
                      from_element(output(1), s.cell(layer, d) * s.batch * s.hidden), traits));
      plan.launches.back().beside_last = d > 0;
    }
    from = to;
  }
  if (from.kind == LaunchOperand::Kind::scratch) {
    plan.launches.push_back(copy_launch({{rows * s.row(), 1, 1}}, from, output(0), traits));
    plan.launches.back().beside_last = true;
  }
  return plan;
}

CallPlan lstm(const OperatorCall& call, const DeviceTraits& traits) {
  return recurrent(call, 4, 2, traits);
}
CallPlan gru(const OperatorCall& call, const DeviceTraits& traits) {
  return recurrent(call, 3, 1, traits);
}

}  // namespace

const std::vector<EagerKernel>& recurrent_kernels() {
  static const std::vector<EagerKernel> kernels = {{"lstm", lstm}, {"gru", gru}};
  return kernels;
}

}  // namespace kbench::eager
