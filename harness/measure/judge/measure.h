// Measures a candidate that is prepared: a verified warm-up, paired samples until the interval is
// narrow enough, and what may be said of the times.
#pragma once

#include <functional>

#include "harness/measure/judge/prepared_trial.h"
#include "kbench/evaluate.h"

namespace kbench::judge {

/// Fills in the report's result. `on_progress` may be empty. Throws as PreparedTrial does.
void measure(PreparedTrial& trial, const std::function<void(const Progress&)>& on_progress);

}  // namespace kbench::judge
