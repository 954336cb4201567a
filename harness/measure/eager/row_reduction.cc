#include "harness/measure/eager/row_reduction.h"

namespace kbench::eager {
namespace {

Launch reduce_rows(const Reduction& reduction, ReductionStage stage, int64_t rows, int64_t n,
                   Split split, LaunchOperand from, LaunchOperand to, const DeviceTraits& traits) {
  const int64_t width = n % 4 == 0 && stage != ReductionStage::second ? 4 : 1;
  int64_t lanes = 8;
  while (lanes < kThreads && lanes * width * 4 < split.length) lanes *= lanes < 128 ? 4 : 2;
  const int64_t groups = ceil_div(rows, kThreads / lanes) * split.count;
  Launch launch =
      make_launch("reduce_rows.comp", {{"THREADS", kThreads}, {"LANES", lanes}, {"WIDTH", width}},
                  {from, to}, groups, traits);
  add_reduction_macros(launch, reduction, stage);
  launch.add(rows).add(n).add(split.count).add(split.length).add(groups);
  launch.add_real(stage == ReductionStage::first ? 1.0 : reduction.scale);
  return launch;
}

}  // namespace

void add_reduction_macros(Launch& launch, const Reduction& reduction, ReductionStage stage) {
  const std::pair<const char*, bool> macros[] = {
      {"ARGMAX", reduction.argmax},
      {"EXTREME", reduction.extreme},
      {"NEGATED", reduction.negated},
      {"SQUARED", reduction.norm && stage != ReductionStage::second},
      {"ROOT", reduction.norm && stage != ReductionStage::first},
      {"FROM_PARTS", reduction.argmax && stage == ReductionStage::second},
      {"TO_PARTS", reduction.argmax && stage == ReductionStage::first}};
  for (const auto& [name, value] : macros) launch.macros.emplace_back(name, value ? "1" : "0");
}

Launch partial_sums(int64_t rows, int64_t n, Split split, LaunchOperand from, LaunchOperand to,
                    const DeviceTraits& traits) {
  return reduce_rows({}, ReductionStage::first, rows, n, split, from, to, traits);
}

void append_row_reduction(CallPlan& plan, const Reduction& reduction, int64_t rows, int64_t n,
                          LaunchOperand from, LaunchOperand to, const DeviceTraits& traits) {
  const Split split = split_row(n, rows);
  if (split.count == 1) {
    plan.launches.push_back(
        reduce_rows(reduction, ReductionStage::whole, rows, n, split, from, to, traits));
    return;
  }
  const LaunchOperand parts = scratch(static_cast<int>(plan.scratch_bytes.size()));
  plan.scratch_bytes.push_back(rows * split.count * reduction.part_bytes());
  plan.launches.push_back(
      reduce_rows(reduction, ReductionStage::first, rows, n, split, from, parts, traits));
  plan.launches.push_back(reduce_rows(reduction, ReductionStage::second, rows, split.count,
                                      {1, ceil_div(split.count, 4) * 4}, parts, to, traits));
}

}  // namespace kbench::eager
