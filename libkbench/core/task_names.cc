#include "libkbench/core/task_names.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "kbench/error.h"
#include "kbench/text.h"
#include "libkbench/base/suggest.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

constexpr size_t kNamed = 8;

/// Letters and digits in lower case, one "_" for what stands between them: "Conv 2D (ReLU)" and
/// KernelBench's "conv_2D__ReLU_" are one name.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      result += upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  if (result.ends_with('_')) result.pop_back();
  return result;
}

std::string listed(const std::vector<const Task*>& tasks) {
  std::string text;
  for (size_t i = 0; i < std::min(tasks.size(), kNamed); ++i) {
    text += (i > 0 ? ", " : "") + to_string(tasks[i]->id) + " " + tasks[i]->name;
  }
  if (tasks.size() > kNamed) text += " and " + std::to_string(tasks.size() - kNamed) + " more";
  return text;
}

std::vector<const Task*> where(std::span<const Task> suite, auto fits) {
  std::vector<const Task*> found;
  for (const Task& task : suite) {
    if (fits(task)) found.push_back(&task);
  }
  std::ranges::sort(found, {}, [](const Task* task) { return task->id; });
  return found;
}

/// Takes "level1/" or "1/" off; 0 where there is none.
int take_level(std::string_view& text) {
  const size_t slash = text.rfind('/');
  if (slash == text.npos) return 0;
  const size_t before = slash == 0 ? text.npos : text.rfind('/', slash - 1);
  const size_t begin = before == text.npos ? 0 : before + 1;
  const std::string name = plain(text.substr(begin, slash - begin));
  std::string_view folder = name;
  if (folder.starts_with("level")) folder.remove_prefix(5);
  int level = 0;
  if (!read_number(folder, level)) return 0;
  text.remove_prefix(slash + 1);
  return level;
}

/// "; did you mean 'level1/19'?" for what has a task's numbers and other signs about them, as in
/// "level1-19" and "1/19/".
std::string task_of_numbers(std::string_view text, std::span<const Task> suite) {
  std::string rest = plain(text);
  std::ranges::replace(rest, '_', ' ');
  const bool says_level = rest.starts_with("level");
  if (says_level) rest.erase(0, 5);
  if (rest.find_first_not_of("0123456789 ") != rest.npos) return "";
  std::istringstream words(rest);
  int level = 0, number = 0;
  words >> level;
  if (level == 0) return "";
  const auto same_level = [&](const Task& task) { return task.id.level == level; };
  if (words >> number) {
    const bool there = std::ranges::find(suite, TaskId{level, number}, &Task::id) != suite.end();
    return there ? "; did you mean '" + to_string(TaskId{level, number}) + "'?" : "";
  }
  return (says_level || text.ends_with('/')) && std::ranges::any_of(suite, same_level)
             ? "; did you mean 'level" + std::to_string(level) + "/*'?"
             : "";
}

}  // namespace

const Task& task_of_name(std::string_view text, std::span<const Task> suite) {
  std::string_view rest = text;
  const int level = take_level(rest);
  if (rest.ends_with(".py")) rest.remove_suffix(3);
  std::string name = plain(rest);
  // "1/1-" is a range that was not finished, and no name.
  const bool has_letters = name.find_first_not_of("0123456789_") != name.npos;
  if (!has_letters && name != rest) name.clear();
  const auto in_level = [&](const Task& task) { return level == 0 || task.id.level == level; };
  std::vector<const Task*> found;
  if (!name.empty()) {
    found = where(suite, [&](const Task& task) {
      return in_level(task) &&
             (plain(task.name) == name || std::to_string(task.id.number) == name ||
              std::to_string(task.id.number) + "_" + plain(task.name) == name);
    });
    if (found.empty()) {
      found = where(suite, [&](const Task& task) {
        return in_level(task) && plain(task.name).find(name) != std::string::npos;
      });
    }
  }
  if (found.size() == 1) return *found.front();
  if (found.size() > 1) {
    throw Error(ErrorCode::kInvalidArgument, "'" + shown(text) + "' can be " +
                                                 std::to_string(found.size()) +
                                                 " tasks: " + listed(found));
  }
  std::vector<std::string> names;
  for (const Task& task : suite) {
    if (in_level(task)) names.push_back(plain(task.name));
  }
  const std::string meant = task_of_numbers(text, suite);
  throw Error(
      ErrorCode::kNotFound,
      "'" + shown(text) + "' is not a task" + (meant.empty() ? suggestion(name, names) : meant) +
          "; write level1/19, 1/19 or a name (`kbench list`), 1/* for a level, 1/1-9 for a range");
}

}  // namespace kbench
