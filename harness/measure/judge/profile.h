// The time of a candidate, step by step.
#pragma once

#include "harness/measure/judge/prepared_trial.h"

namespace kbench::judge {

/// For a request that asks for it: the times of the candidate's steps, and of the baseline's.
/// Throws as PreparedTrial does.
void profile(PreparedTrial& trial);

/// Finds the share of its time that a candidate that passed spends in kernels of its own, where
/// others have a part in it, and names those; a module's by its process's word. A profile that
/// fails leaves the share unset.
void find_own_share(PreparedTrial& trial);

}  // namespace kbench::judge
