// Looking up tasks of one's own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/task.h"

namespace kbench {

/// Null where none was added. `id.own` must not be empty; a meaning of 0 is that of the last one.
const Task* lookup_own_task(const TaskId& id);
/// The task that was read from this text; null where there is none.
const Task* lookup_own_file(std::string_view text);
/// Only these are found from now on; they must have been added.
void set_own_tasks(const std::vector<const Task*>& tasks);

/// A TaskId's meaning as files have it: 16 hexadecimal digits. Back: throws kParse.
std::string meaning_text(uint64_t meaning);
uint64_t meaning_from_text(std::string_view text);

}  // namespace kbench
