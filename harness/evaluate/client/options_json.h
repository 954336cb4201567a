// Options of an evaluation and devices: their fields, and JSON from programs in other languages.
#pragma once

#include "kbench/evaluate.h"
#include "libkbench/base/fields.h"
#include "libkbench/scoring/json_field.h"

namespace kbench {

KBENCH_FIELDS(SamplingPlan, precision, max_seconds, min_samples, max_samples, thresholds)
KBENCH_FIELDS(Limits, compile_seconds, device_seconds, total_seconds, host_bytes)
KBENCH_FIELDS(RecordedTimes, file, column, device, preset, dtype, ms, variables)
KBENCH_FIELDS(EvaluateOptions, device, preset, overrides, dtype, tolerance, recorded, opponent,
              plan, limits, validate, other_sizes, general, full_headers, fresh_runners, seed,
              program, on_stage, on_progress)
KBENCH_FIELDS(Progress, samples, speedup, seconds)

}  // namespace kbench

namespace kbench::client {

/// The members of EvaluateOptions by their names, all of them optional:
///
///     {"device": "auto", "preset": "smoke", "overrides": {"dim": 65}, "tolerance": "kbench",
///      "recorded": {"file": "torch.json", "column": "eager_ms"},
///      "plan": {"precision": .., "max_seconds": .., "min_samples": .., "max_samples": ..,
///               "thresholds": [1]},
///      "limits": {"compile_seconds": .., "device_seconds": .., "total_seconds": ..,
///                 "host_bytes": ..},
///      "validate": false, "other_sizes": true, "seed": 7, "program": "/usr/bin/kbench"}
///
/// Throws kParse naming the field: one that there is not, or of another type. Reads the file of
/// recorded times, and throws what that throws.
EvaluateOptions options_from_json(const JsonField& field);

nlohmann::json to_value(const DeviceSummary& device);
/// Of an object of that form; throws kParse.
DeviceSummary device_from_json(const JsonField& field);

}  // namespace kbench::client
