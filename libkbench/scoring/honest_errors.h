// Files of honest errors in halves (kbench/task.h): levels/tolerances/f16.json and bf16.json.
#pragma once

#include <map>
#include <string>

#include "kbench/task.h"

namespace kbench {

/// What audits found in one half, by task.
using HonestErrors = std::map<TaskId, HonestError>;
/// A line a task, so that what changes is seen in a diff.
std::string to_json(const HonestErrors& errors, DType half);
/// Throws kParse naming the task and the field, or where the file is of another half.
HonestErrors parse_honest_errors(const std::string& json, const std::string& name, DType half);

/// Takes what another audit found into account: the larger errors, the smaller output.
void merge(HonestError& into, const HonestError& found);

}  // namespace kbench
