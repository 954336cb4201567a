// Profiles a candidate and the baseline.
#pragma once

#include <string>

#include "harness/evaluate/client/judge_client.h"
#include "kbench/evaluate.h"
#include "kbench/feedback.h"

namespace kbench::diagnose {

/// Fills in `steps` and `baseline`: device times from timestamps between the steps, with the least
/// bytes and FLOPs that each step needs. For a candidate's kernel these are the bytes of the
/// buffers it binds. Leaves both empty if the candidate does not run.
void profile(client::JudgeClient& judge, const std::string& candidate_file,
             const EvaluateOptions& options, const std::string& preset, int runs,
             Evidence& evidence);

}  // namespace kbench::diagnose
