// Tasks that are not of the suite: those of files, kept for as long as the process lives.
#include "libkbench/core/own_tasks.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <deque>
#include <iomanip>
#include <map>
#include <mutex>
#include <sstream>

#include "kbench/error.h"
#include "kbench/random.h"
#include "kbench/task.h"

namespace kbench {
namespace {

struct OwnTasks {
  std::mutex mutex;
  std::deque<Task> all;                                  ///< never moved, so that references stay
  std::map<std::string, const Task*, std::less<>> last;  ///< by name
};

OwnTasks& own() {
  static OwnTasks tasks;
  return tasks;
}

bool is_name_part(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
  });
}

}  // namespace

bool is_own_name(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  std::string_view set = text.substr(0, slash);
  if (!is_name_part(set) || !is_name_part(text.substr(slash + 1))) return false;
  if (!std::isalpha(static_cast<unsigned char>(set[0]))) return false;
  if (!set.starts_with("level")) return true;
  set.remove_prefix(5);
  return std::ranges::any_of(set, [](unsigned char c) { return !std::isdigit(c) && c != '_'; });
}

uint32_t TaskId::draw_word() const {
  constexpr uint32_t kOwn = uint32_t{1} << 31;  // The suite's words are below.
  if (!own.empty()) return fnv1a32(own) | kOwn;
  return static_cast<uint32_t>(level) * 65536u + static_cast<uint32_t>(number);
}

const Task& add_own_task(Task task) {
  if (!is_own_name(task.id.own) || task.id.meaning == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "'" + task.id.own + "' cannot name a task of one's own; write my/mlp");
  }
  OwnTasks& tasks = own();
  const std::lock_guard lock(tasks.mutex);
  const auto same = std::ranges::find(tasks.all, task.id, &Task::id);
  const Task& kept = same != tasks.all.end() ? *same : tasks.all.emplace_back(std::move(task));
  tasks.last[kept.id.own] = &kept;
  return kept;
}

std::vector<const Task*> own_tasks() {
  OwnTasks& tasks = own();
  const std::lock_guard lock(tasks.mutex);
  std::vector<const Task*> result;
  for (const auto& [name, task] : tasks.last) result.push_back(task);
  return result;
}

const Task* lookup_own_task(const TaskId& id) {
  OwnTasks& tasks = own();
  const std::lock_guard lock(tasks.mutex);
  const auto last = tasks.last.find(id.own);
  if (last == tasks.last.end()) return nullptr;
  if (id.meaning == 0 || id.meaning == last->second->id.meaning) return last->second;
  const auto earlier = std::ranges::find(tasks.all, id, &Task::id);
  return earlier == tasks.all.end() ? nullptr : &*earlier;
}

const Task* lookup_own_file(std::string_view text) {
  OwnTasks& tasks = own();
  const std::lock_guard lock(tasks.mutex);
  const auto found = std::ranges::find(tasks.all, text, &Task::file);
  return found == tasks.all.end() ? nullptr : &*found;
}

void set_own_tasks(const std::vector<const Task*>& wanted) {
  OwnTasks& tasks = own();
  const std::lock_guard lock(tasks.mutex);
  tasks.last.clear();
  for (const Task* task : wanted) tasks.last[task->id.own] = task;
}

std::string meaning_text(uint64_t meaning) {
  std::ostringstream text;
  text << std::hex << std::setw(16) << std::setfill('0') << meaning;
  return text.str();
}

uint64_t meaning_from_text(std::string_view text) {
  uint64_t meaning = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), meaning, 16);
  if (error == std::errc() && end == text.data() + text.size() && text.size() == 16) return meaning;
  throw Error(ErrorCode::kParse, "is no task's meaning, 16 hexadecimal digits");
}

}  // namespace kbench
