// Tasks found by their names.
#pragma once

#include <span>
#include <string_view>

#include "kbench/task.h"

namespace kbench {

/// named_task() for what is not made of numbers.
const Task& task_of_name(std::string_view text, std::span<const Task> suite);

}  // namespace kbench
