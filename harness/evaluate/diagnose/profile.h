// Where a candidate's time goes, beside its opponent's.
#pragma once

#include <string>

#include "harness/evaluate/client/judge_client.h"
#include "kbench/evaluate.h"
#include "kbench/feedback.h"

namespace kbench::diagnose {

/// Fills in `steps` and `baseline`: device times from timestamps between the steps, with the least
/// bytes and FLOPs that each needs. Bytes of a candidate's kernel are those of the buffers it
/// binds. Leaves both empty where the candidate does not run.
void profile(client::JudgeClient& judge, const std::string& candidate_file,
             const EvaluateOptions& options, const std::string& preset, int runs,
             Evidence& evidence);

}  // namespace kbench::diagnose
