#include "harness/eager/row_reduction.h"

namespace kbench::eager {
namespace {

constexpr int64_t kThreads = 256;

/// What a launch reads and writes.
enum class Stage {
  whole,   ///< elements to results
  first,   ///< elements to partial results
  second,  ///< partial results to results
};

Launch reduce_rows(const Reduction& reduction, Stage stage, int64_t rows, int64_t n, Split split,
                   Operand from, Operand to, const DeviceTraits& traits) {
  const int64_t width = n % 4 == 0 && stage != Stage::second ? 4 : 1;
  int64_t lanes = 8;
  while (lanes < kThreads && lanes * width * 4 < split.length) lanes *= lanes < 128 ? 4 : 2;
  const int64_t groups = ceil_div(rows, kThreads / lanes) * split.count;
  Launch launch = make_launch("reduce_rows.comp",
                              {{"THREADS", kThreads},
                               {"LANES", lanes},
                               {"WIDTH", width},
                               {"ARGMAX", reduction.argmax},
                               {"EXTREME", reduction.extreme},
                               {"NEGATED", reduction.negated},
                               {"FROM_PARTS", stage == Stage::second && reduction.argmax},
                               {"TO_PARTS", stage == Stage::first && reduction.argmax}},
                              {from, to}, groups, traits);
  launch.add(rows).add(n).add(split.count).add(split.length).add(groups);
  launch.add_real(stage == Stage::first ? 1.0 : reduction.scale);
  return launch;
}

}  // namespace

Launch partial_sums(int64_t rows, int64_t n, Split split, Operand from, Operand to,
                    const DeviceTraits& traits) {
  return reduce_rows({}, Stage::first, rows, n, split, from, to, traits);
}

void append_row_reduction(CallPlan& plan, const Reduction& reduction, int64_t rows, int64_t n,
                          Operand from, Operand to, const DeviceTraits& traits) {
  const Split split = split_row(n, rows);
  if (split.count == 1) {
    plan.launches.push_back(reduce_rows(reduction, Stage::whole, rows, n, split, from, to, traits));
    return;
  }
  const Operand parts = scratch(static_cast<int>(plan.scratch_bytes.size()));
  plan.scratch_bytes.push_back(rows * split.count * reduction.part_bytes());
  plan.launches.push_back(
      reduce_rows(reduction, Stage::first, rows, n, split, from, parts, traits));
  plan.launches.push_back(reduce_rows(reduction, Stage::second, rows, split.count,
                                      {1, ceil_div(split.count, 4) * 4}, parts, to, traits));
}

}  // namespace kbench::eager
