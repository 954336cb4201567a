// The best candidates of a run, which are measured again: the fastest of many noisy measurements is
// fastest by its luck too (docs/metrics.md).
#pragma once

#include <vector>

#include "harness/evaluate/generate/run_folder.h"
#include "kbench/attempt.h"

namespace kbench::generate {

/// The fastest correct attempt of each model on each task, task by task. `unconfirmed`: only those
/// that were chosen among several measurements and do not stand in confirmed.jsonl. Throws kIo and
/// kParse.
std::vector<Attempt> winners_of(const RunFolder& folder, bool unconfirmed);

}  // namespace kbench::generate
