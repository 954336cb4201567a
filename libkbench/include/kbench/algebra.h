// Allowed algebra: tasks that can be computed exactly with fewer operations than their operators
// take, by exchanging a product and a sum or by folding factors into a weight. Such a candidate
// passes; a speedup on such a task should be compared with the best known one.
#pragma once

#include <string>
#include <vector>

#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench {

/// The best rewriting known of a task.
struct Algebra {
  TaskId task;
  std::string how;               ///< a sentence or two
  std::string candidate;         ///< as a candidate file (YAML) of built-in steps
  std::vector<Result> measured;  ///< against the eager baseline, one a device and preset
};

/// The rewritings in this build (levels/algebra/), by level and number.
const std::vector<Algebra>& known_algebra();
const Algebra* lookup_algebra(TaskId task);  ///< null where none is known
/// Its measurement with the largest speedup at the preset in the type; null where it was not
/// measured.
const Result* best_measured(const Algebra& algebra, Preset preset, DType dtype);

}  // namespace kbench
