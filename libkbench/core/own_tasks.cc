// Tasks that are not of the suite: those of files.
#include "libkbench/core/own_tasks.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iomanip>
#include <map>
#include <mutex>
#include <sstream>

#include "kbench/error.h"
#include "kbench/random.h"

namespace kbench {
namespace {

struct OwnTasks {
  std::mutex mutex;
  std::vector<std::shared_ptr<const Task>> all;
  std::map<std::string, std::shared_ptr<const Task>, std::less<>> last;  ///< by name
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

std::shared_ptr<const Task> exactly(const OwnTasks& tasks, const TaskId& id) {
  const auto found =
      std::ranges::find(tasks.all, id, [](const auto& task) -> const TaskId& { return task->id; });
  return found == tasks.all.end() ? nullptr : *found;
}

std::shared_ptr<const Task> known(const OwnTasks& tasks, const TaskId& id) {
  if (id.meaning != 0) return exactly(tasks, id);
  const auto last = tasks.last.find(id.own);
  return last == tasks.last.end() ? nullptr : last->second;
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
  auto kept = exactly(tasks, task.id);
  if (!kept) kept = tasks.all.emplace_back(std::make_shared<const Task>(std::move(task)));
  tasks.last[kept->id.own] = kept;
  return *kept;
}

std::vector<const Task*> own_tasks() {
  OwnTasks& tasks = own();
  const std::lock_guard lock(tasks.mutex);
  std::vector<const Task*> result;
  for (const auto& [name, task] : tasks.last) result.push_back(task.get());
  return result;
}

const Task* lookup_own_task(const TaskId& id) {
  OwnTasks& tasks = own();
  const std::lock_guard lock(tasks.mutex);
  return known(tasks, id).get();
}

std::shared_ptr<const Task> hold_task(const TaskId& id, std::span<const Task> suite) {
  if (!id.own.empty()) {
    OwnTasks& tasks = own();
    const std::lock_guard lock(tasks.mutex);
    if (auto found = known(tasks, id)) return found;
  }
  return {std::shared_ptr<const Task>(), &find_task(id, suite)};
}

std::shared_ptr<const Task> lookup_own_file(std::string_view text) {
  OwnTasks& tasks = own();
  const std::lock_guard lock(tasks.mutex);
  const auto found = std::ranges::find(
      tasks.all, text, [](const auto& task) -> const std::string& { return task->file; });
  return found == tasks.all.end() ? nullptr : *found;
}

void set_own_tasks(std::vector<std::shared_ptr<const Task>> wanted) {
  OwnTasks& tasks = own();
  const std::lock_guard lock(tasks.mutex);
  tasks.last.clear();
  tasks.all = std::move(wanted);
  for (const auto& task : tasks.all) tasks.last[task->id.own] = task;
}

std::string exact_name(const TaskId& id) {
  return to_string(id) + (id.meaning != 0 ? "@" + meaning_text(id.meaning) : "");
}

TaskId task_id_of_exact(std::string_view text) {
  const std::string_view name = text.substr(0, text.find('@'));
  if (!is_own_name(name)) return parse_task_id(text);
  TaskId id{.own = std::string(name)};
  if (name.size() < text.size()) id.meaning = meaning_from_text(text.substr(name.size() + 1));
  return id;
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
