// Files of a preset's sizes, of many tasks: levels/sizes/train.json.
#pragma once

#include <map>
#include <string>

#include "kbench/task.h"

namespace kbench {

/// By task, the variables that have other values than at preset v0.1.
using TaskSizes = std::map<TaskId, Variables>;
/// A line a task, so that what changes is seen in a diff.
std::string to_json(const TaskSizes& sizes);
/// Throws kParse naming the task and the field.
TaskSizes parse_task_sizes(const std::string& json, const std::string& name);

}  // namespace kbench
