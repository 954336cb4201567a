// One trial: a candidate from its files to a verdict, against the baseline, on one device.
// docs/measurement.md explains each step and the attack it answers.
#pragma once

#include <functional>

#include "harness/measure/judge/candidate_build.h"
#include "harness/measure/judge/prepared_trial.h"
#include "harness/measure/judge/trial_report.h"
#include "kbench/evaluate.h"
#include "kbench/result.h"

namespace kbench::judge {

/// Prepares the candidate, and does with it what the request asks for: measures it, or checks or
/// looks at it. `on_progress` may be empty. Never throws for what candidate or baseline do; throws
/// StillCompiling, and Error for what is wrong with the request's options (no such preset,
/// variable, recorded time) and for the judge's own device.
TrialEnd run_trial(const TrialContext& context, CandidateBuild& build,
                   std::function<void(const char*)> on_stage,
                   const std::function<void(const Progress&)>& on_progress, Result& result);

}  // namespace kbench::judge
