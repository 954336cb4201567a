// The fields of an evaluation's options and progress, for its judge and for programs in other
// languages.
#pragma once

#include "kbench/evaluate.h"
#include "libkbench/base/fields.h"

namespace kbench {

KBENCH_FIELDS(SamplingPlan, precision, max_seconds, min_samples, max_samples, thresholds)
KBENCH_FIELDS(Limits, compile_seconds, device_seconds, total_seconds, host_bytes)
KBENCH_FIELDS(RecordedTimes, file, column, device, preset, dtype, ms, variables)
KBENCH_FIELDS(EvaluateOptions, device, preset, overrides, dtype, tolerance, recorded, opponent,
              plan, limits, validate, other_sizes, general, fresh_runners, seed, program, on_stage,
              on_progress)
KBENCH_FIELDS(Progress, samples, speedup, seconds)

}  // namespace kbench
