// Looking up tasks of one's own.
#pragma once

#include "kbench/task.h"

namespace kbench {

/// Null where none was added. `id.own` must not be empty; a meaning of 0 is that of the last one.
const Task* lookup_own_task(const TaskId& id);

}  // namespace kbench
