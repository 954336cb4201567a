// The fields of experiments and results, in the order of a line.
#pragma once

#include <string>
#include <string_view>

#include "kbench/result.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

KBENCH_FIELDS(WrongAt, sizes, verdict, message)
KBENCH_FIELDS(HoldsAt, tried, right, first_wrong)
KBENCH_FIELDS(Sanitized, preset, clean, findings, unknown)
KBENCH_FIELDS(Workload, sizes, speedup, candidate_ms, baseline_ms)
KBENCH_FIELDS(Workloads, each, geomean, least)
KBENCH_FIELDS_OF_DERIVED(Experiment, TaskAt, set, candidate, candidate_hash, task, task_name,
                         preset, variables, dtype, device, driver, software_device, baseline,
                         settings, version, device_uuid, certificate, made_for)
KBENCH_FIELDS_OF_DERIVED(Result, Experiment, set, candidate, candidate_hash, task, task_name,
                         preset, variables, dtype, device, driver, software_device, baseline,
                         settings, version, device_uuid, certificate, made_for, verdict, message,
                         diagnostics, tuning, lane, samples, seed, failed_sample, speedup,
                         candidate_ms, baseline_ms, setup_ms, max_error, gbytes_per_s, tflops,
                         roof_gbytes_per_s, roof_tflops, compile_s, wall_s, busy, runner_served,
                         opponent, opponent_finding, own_kernels, library_calls, sanitized,
                         holds_at, workloads, stage_s)
// Records of earlier versions lack these.
KBENCH_OPTIONAL_FIELDS(Result, dtype, device_uuid, certificate, made_for, tuning, lane, seed,
                       failed_sample, roof_gbytes_per_s, roof_tflops, busy, runner_served, opponent,
                       opponent_finding, own_kernels, library_calls, sanitized, holds_at, workloads,
                       stage_s)
KBENCH_OPTIONAL_FIELDS(HoldsAt, first_wrong)

/// Records from before have none of these, most candidates neither ask nor call for anything, and
/// the judge measures a device's own rates only where it needs them.
inline bool is_left_out(const Result& result, std::string_view field) {
  return (field == "dtype" && result.dtype == DType::f32) ||
         (field == "made_for" && result.made_for.empty()) ||
         (field == "library_calls" && result.library_calls.empty()) ||
         (field == "seed" && !result.seed) || (field == "sanitized" && !result.sanitized) ||
         (field == "failed_sample" && result.failed_sample == 0) ||
         (field == "roof_gbytes_per_s" && result.roof_gbytes_per_s == 0) ||
         (field == "roof_tflops" && result.roof_tflops == 0);
}

// Whether a result can be what a measurement came to.

/// Throws kParse with the field, its value and what it may be: a value that no measurement gives
/// (a negative count, a share above 1, an unknown preset), or one that contradicts another (more
/// sizes right than tried, a passed result without samples, a speedup that is not that of the
/// times).
void expect_possible(const Result& result);

/// A line as it stands, with the kinds of its fields checked and not their values. Throws kParse.
Result unchecked_result(const std::string& line);

}  // namespace kbench
