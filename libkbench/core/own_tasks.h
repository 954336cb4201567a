// Looking up tasks of one's own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/task.h"

namespace kbench {

/// Null where none was added. `id.own` must not be empty; a meaning of 0 is that of the last one.
const Task* lookup_own_task(const TaskId& id);
/// find_task() for those that need the task longer than it is known here (set_own_tasks()). Throws
/// as that does.
std::shared_ptr<const Task> hold_task(const TaskId& id, std::span<const Task> suite = tasks());
/// The task that was read from this text; null where there is none.
std::shared_ptr<const Task> lookup_own_file(std::string_view text);
/// From now on these are known and no others, whose memory is given back unless they are held. Of
/// several with one name the last one counts.
void set_own_tasks(std::vector<std::shared_ptr<const Task>> tasks);

/// "level1/19", "my/mlp@0123456789abcdef": as processes name a task to each other.
std::string exact_name(const TaskId& id);
/// Back, without looking anything up: of a name alone the meaning is 0. Throws kInvalidArgument,
/// kParse.
TaskId task_id_of_exact(std::string_view text);

/// A TaskId's meaning as files have it: 16 hexadecimal digits. Back: throws kParse.
std::string meaning_text(uint64_t meaning);
uint64_t meaning_from_text(std::string_view text);

/// named_task() for what is not made of numbers.
const Task& task_of_name(std::string_view text, std::span<const Task> suite);
/// Those that the text may be the name of, in order: of the name, else the one whose name begins
/// with it, else all whose names hold it.
std::vector<const Task*> tasks_of_name(std::string_view text, std::span<const Task> suite);

}  // namespace kbench
