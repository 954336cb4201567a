// What metrics share: when an attempt counts, and how many samples a task was asked for.
#pragma once

#include <algorithm>
#include <vector>

#include "kbench/metrics.h"

namespace kbench {

inline bool counts(const AttemptRow& row, const MetricScope& scope) {
  return row.correct() && !(scope.strict && row.lenient) &&
         !(scope.own_kernels && row.operator_steps) && !(scope.general && row.general == false);
}

inline bool is_good(const AttemptRow& row, const MetricScope& scope, const Criterion& criterion) {
  if (!counts(row, scope)) return false;
  return criterion.p <= 0 || (criterion.at_low ? row.speedup.low : row.speedup.point) > criterion.p;
}

inline bool within(const AttemptRow& row, const MetricScope& scope) {
  return scope.attempts == 0 || row.attempt <= scope.attempts;
}

/// Samples asked for, of each task of the scope.
std::vector<int> asked(const AttemptSet& set, uint32_t model, const MetricScope& scope);

/// The attempts of a model on the scope's tasks: take(row, index of the task).
template <class Take>
void for_each_row(const AttemptSet& set, uint32_t model, const MetricScope& scope, Take take) {
  for (size_t i = 0; i < scope.tasks.size(); ++i) {
    for (const Chain& chain : set.chains(model, scope.tasks[i])) {
      for (const AttemptRow& row : chain.attempts) {
        if (within(row, scope)) take(row, i);
      }
    }
  }
}

}  // namespace kbench
