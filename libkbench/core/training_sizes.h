// Preset train: which sizes of a task are chosen for it.
#pragma once

#include "kbench/task.h"

namespace kbench {

/// Preset v0.1's sizes, halved one after another until a run of the task is expected to take
/// between 0.1 and 0.2 ms on an H200: the variables that end at other values than v0.1's.
/// docs/training.md has the rule.
Variables training_sizes(const Task& task);

}  // namespace kbench
