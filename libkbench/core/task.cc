// What names a task, and finding tasks by name.
#include "kbench/task.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "libkbench/core/own_tasks.h"

namespace kbench {
namespace {

/// One item of a selection: a level and a range of numbers.
struct Selection {
  int level = 0, first = 0, last = 0;
  bool whole_level = false;
  bool contains(const TaskId& id) const {
    return id.own.empty() && id.level == level &&
           (whole_level || (id.number >= first && id.number <= last));
  }
};

/// The item, where it is made of numbers.
std::optional<Selection> read_selection(std::string_view item) {
  std::string_view rest = item;
  if (rest.starts_with("level")) rest.remove_prefix(5);
  const size_t slash = rest.find('/');
  Selection result;
  bool good = slash != std::string_view::npos && read_number(rest.substr(0, slash), result.level);
  if (good) {
    const std::string_view numbers = rest.substr(slash + 1);
    const size_t dash = numbers.find('-');
    if (numbers == "*") {
      result.whole_level = true;
    } else if (dash == std::string_view::npos) {
      good = read_number(numbers, result.first);
      result.last = result.first;
    } else {
      good = read_number(numbers.substr(0, dash), result.first) &&
             read_number(numbers.substr(dash + 1), result.last);
    }
  }
  if (!good) return std::nullopt;
  return result;
}

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

}  // namespace

Bounds bounds_from(const HonestError& honest, DType half) {
  constexpr double kTimes = 2;  // what an honest kernel of another kind may need more
  const double step = half_epsilon(half);
  // The RMS of few roundings differs from draw to draw, by about 1 / sqrt(elements) of one
  // rounding: of an element as large as the output's RMS at most step / 4 of s + |r|.
  const double by_chance = step / 4 / std::sqrt(static_cast<double>(honest.elements));
  return {std::max(kTimes * honest.relative, step), kTimes * (honest.rms + by_chance)};
}

Bounds bounds_of(const Task& task, DType dtype) {
  if (!is_half(dtype)) return {task.tolerance.relative};
  const auto known = task.honest.find(dtype);
  const double step = half_epsilon(dtype);
  return bounds_from(known != task.honest.end()
                         ? known->second
                         : HonestError{.relative = 2 * step, .rms = step / 4},
                     dtype);
}

bool is_defined(const Task& task, DType dtype) {
  const auto known = task.honest.find(dtype);
  return known == task.honest.end() || known->second.undefined.empty();
}

void require_defined(const Task& task, DType dtype) {
  if (is_defined(task, dtype)) return;
  throw Error(ErrorCode::kInvalidArgument, to_string(task.id) + " is not defined in " +
                                               std::string(long_name_of(dtype)) + ": " +
                                               task.honest.at(dtype).undefined);
}

std::string to_string(const TaskId& id) {
  if (!id.own.empty()) return id.own;
  return "level" + std::to_string(id.level) + "/" + std::to_string(id.number);
}

TaskId parse_task_id(std::string_view text) {
  if (is_own_name(text)) {
    const TaskId named{.own = std::string(text)};
    const Task* const known = lookup_own_task(named);
    return known != nullptr ? known->id : named;
  }
  const std::optional<Selection> item = read_selection(text);
  if (!item) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "'" + std::string(text) +
            "' is not a task: write level1/19 or 1/19 (1/* for a level, 1/1-9 for a range)");
  }
  if (item->whole_level || item->first != item->last) {
    throw Error(ErrorCode::kInvalidArgument,
                "'" + std::string(text) + "' names several tasks; write one, as in level1/19");
  }
  return {item->level, item->first};
}

const Task* lookup_task(const TaskId& id, std::span<const Task> suite) {
  if (!id.own.empty()) return lookup_own_task(id);
  const auto it = std::ranges::find(suite, id, &Task::id);
  return it == suite.end() ? nullptr : &*it;
}

const Task& find_task(const TaskId& id, std::span<const Task> suite) {
  if (const Task* task = lookup_task(id, suite)) return *task;
  if (!id.own.empty()) {
    const std::string other = id.meaning != 0 && lookup_own_task({.own = id.own}) != nullptr
                                  ? " of the meaning " + meaning_text(id.meaning)
                                  : "";
    throw Error(ErrorCode::kNotFound, "there is no task " + id.own + other +
                                          "; a task of one's own is known once its file is "
                                          "given (--tasks FILE)");
  }
  throw Error(ErrorCode::kNotFound,
              "there is no task " + to_string(id) + "; `kbench list` shows what there is");
}

const Task& named_task(std::string_view text, std::span<const Task> suite) {
  if (is_own_name(text) && lookup_own_task({.own = std::string(text)}) != nullptr) {
    return find_task(parse_task_id(text), suite);
  }
  const std::optional<Selection> item = read_selection(text);
  return item ? find_task(parse_task_id(text), suite) : task_of_name(text, suite);
}

TaskId task_id_of(std::string_view text, std::span<const Task> suite) {
  if (is_own_name(text) || read_selection(text)) return parse_task_id(text);
  return task_of_name(text, suite).id;
}

std::vector<const Task*> select_tasks(std::string_view selection, std::span<const Task> suite,
                                      Names names) {
  std::set<const Task*> chosen;
  while (!selection.empty()) {
    const size_t comma = std::min(selection.find(','), selection.size());
    const std::string_view text = selection.substr(0, comma);
    const std::optional<Selection> item = read_selection(text);
    bool known = !item.has_value();
    if (!item && text.ends_with("/*")) {
      const std::string_view set = text.substr(0, text.size() - 1);
      known = false;
      for (const Task* task : own_tasks()) {
        if (!std::string_view(task->id.own).starts_with(set)) continue;
        chosen.insert(task);
        known = true;
      }
    } else if (!item) {
      std::vector<const Task*> found;
      if (names == Names::of_all) found = tasks_of_name(text, suite);
      if (found.empty()) found = {&named_task(text, suite)};
      chosen.insert(found.begin(), found.end());
    }
    for (const Task& task : suite) {
      if (item && item->contains(task.id)) {
        chosen.insert(&task);
        known = true;
      }
    }
    if (!known) {
      throw Error(ErrorCode::kNotFound,
                  "no task matches '" + std::string(text) + "'; `kbench list` shows what there is");
    }
    selection.remove_prefix(std::min(comma + 1, selection.size()));
  }
  std::vector<const Task*> result(chosen.begin(), chosen.end());
  std::sort(result.begin(), result.end(), [](auto* a, auto* b) { return a->id < b->id; });
  return result;
}

namespace {

/// A name's parts: its level, 0 where it says none, and the rest as plain() has it.
struct Name {
  int level = 0;
  std::string rest;
  explicit Name(std::string_view text) : level(take_level(text)) {
    if (text.ends_with(".py")) text.remove_suffix(3);
    rest = plain(text);
    // "1/1-" is a range that was not finished, and no name.
    const bool has_letters = rest.find_first_not_of("0123456789_") != rest.npos;
    if (!has_letters && rest != text) rest.clear();
  }
  bool in_level(const Task& task) const { return level == 0 || task.id.level == level; }
};

}  // namespace

std::vector<const Task*> tasks_of_name(std::string_view text, std::span<const Task> suite) {
  const Name name(text);
  if (name.rest.empty()) return {};
  const auto found = [&](auto fits) {
    return where(suite, [&](const Task& task) {
      return name.in_level(task) && fits(std::to_string(task.id.number), plain(task.name));
    });
  };
  const std::string& rest = name.rest;
  using Tasks = std::vector<const Task*>;
  const Tasks same = found([&](const std::string& number, const std::string& known) {
    return known == rest || number == rest || number + "_" + known == rest;
  });
  if (!same.empty()) return same;
  const Tasks begun =
      found([&](const auto&, const std::string& known) { return known.starts_with(rest); });
  if (begun.size() == 1) return begun;
  return found(
      [&](const auto&, const std::string& known) { return known.find(rest) != known.npos; });
}

const Task& task_of_name(std::string_view text, std::span<const Task> suite) {
  const std::vector<const Task*> found = tasks_of_name(text, suite);
  if (found.size() == 1) return *found.front();
  if (found.size() > 1) {
    constexpr size_t kNamed = 8;
    const auto in_list = [](const Task* task) { return to_string(task->id) + " " + task->name; };
    throw Error(ErrorCode::kInvalidArgument, "'" + shown(text) + "' can be " +
                                                 std::to_string(found.size()) +
                                                 " tasks: " + listed(found, in_list, kNamed));
  }
  const Name name(text);
  std::vector<std::string> names;
  for (const Task& task : suite) {
    if (name.in_level(task)) names.push_back(plain(task.name));
  }
  throw Error(
      ErrorCode::kNotFound,
      "'" + shown(text) + "' is not a task" + suggestion(name.rest, names) +
          "; write level1/19, 1/19 or a name (`kbench list`), 1/* for a level, 1/1-9 for a range");
}

}  // namespace kbench
