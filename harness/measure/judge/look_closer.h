// Closer looks at a candidate, in place of a judgement. Each fills in the report's verdict, and
// throws as PreparedTrial does.
#pragma once

#include "harness/measure/judge/prepared_trial.h"

namespace kbench::judge {

/// Runs it on the draws of the request's seed, and receives what it wrote (judge/inspect.h).
void look_at_outputs(PreparedTrial& trial);
/// Holds its outputs to the CPU's reference, over each kind of contents of its memory.
void look_at_values(PreparedTrial& trial);

}  // namespace kbench::judge
