// Recorded times: the three formats they come in, and comparing them with a baseline.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>

#include "kbench/baseline.h"
#include "kbench/error.h"
#include "kbench/score.h"
#include "libkbench/base/text.h"
#include "libkbench/scoring/json_field.h"

namespace kbench {
namespace {

/// The column asked for, or else the first of `preferred` that there is, or the only one.
std::string choose_column(const std::string& path, const std::string& asked,
                          const std::vector<std::string>& columns, const std::string& preferred) {
  const auto has = [&](const std::string& name) { return std::ranges::count(columns, name) > 0; };
  if (!asked.empty()) {
    if (has(asked)) return asked;
    throw Error(ErrorCode::kInvalidArgument, path + " has no column '" + asked + "'; it has " +
                                                 listed(columns, std::identity()));
  }
  if (has(preferred)) return preferred;
  if (columns.size() == 1) return columns.front();
  throw Error(ErrorCode::kInvalidArgument,
              "choose a column of " + path + "; it has " + listed(columns, std::identity()));
}

double time_in(const JsonField& field) {
  const double ms = field.real();
  if (!(ms > 0)) field.fail("must be above zero");
  return ms;
}

RecordedTimes from_own(const std::string& path, const std::string& column) {
  const Baseline baseline = read_baseline(path);
  RecordedTimes times;
  times.column =
      choose_column(path, column, {"median_ms", "mean_ms", "min_ms", "max_ms"}, "median_ms");
  times.device = baseline.device;
  times.preset = baseline.preset;
  times.dtype = baseline.dtype;
  for (const BaselineEntry& entry : baseline.tasks) {
    if (!entry.timed()) continue;
    times.variables[entry.task] = entry.variables;
    times.ms[entry.task] = times.column == "mean_ms"  ? entry.times.mean_ms
                           : times.column == "min_ms" ? entry.times.min_ms
                           : times.column == "max_ms" ? entry.times.max_ms
                                                      : entry.times.median_ms;
  }
  return times;
}

std::string without_underscores(std::string name) {
  while (name.ends_with('_')) name.pop_back();
  return name;
}

/// The task of "1_Square_matrix_multiplication_.py" or the same without ".py".
TaskId kernelbench_task(const JsonField& field, int level, std::string name,
                        std::span<const Task> suite) {
  if (name.ends_with(".py")) name.resize(name.size() - 3);
  const size_t bar = name.find('_');
  TaskId id;
  try {
    id = parse_task_id(std::to_string(level) + "/" + name.substr(0, bar));
  } catch (const Error&) {
    field.fail("is not named as KernelBench's files are, NUMBER_NAME.py");
  }
  const std::string title = bar == std::string::npos ? "" : name.substr(bar + 1);
  const Task* task = lookup_task(id, suite);
  if (task != nullptr && without_underscores(title) != without_underscores(task->name)) {
    field.fail("is not " + to_string(id) + ", which is " + task->name);
  }
  return id;
}

/// The number of a key "level1"; nothing for other keys.
std::optional<int> level_of(const std::string& key) {
  constexpr std::string_view kPrefix = "level";
  if (!key.starts_with(kPrefix) || key.size() != kPrefix.size() + 1) return std::nullopt;
  const char digit = key.back();
  return digit >= '1' && digit <= '9' ? std::optional(digit - '0') : std::nullopt;
}

RecordedTimes from_kernelbench(const JsonField& file, const std::string& path,
                               const std::string& column, std::span<const Task> suite) {
  RecordedTimes times;
  times.column = choose_column(path, column, {"mean", "min", "max"}, "mean");
  for (const auto& [key, tasks] : file.members()) {
    const std::optional<int> level = level_of(key);
    if (!level) continue;
    for (const auto& [name, entry] : tasks.members()) {
      const TaskId task = kernelbench_task(entry, *level, name, suite);
      if (entry.is_null()) continue;
      times.ms[task] = time_in(entry[times.column]);
      if (times.device.empty() && entry.has("hardware")) times.device = entry["hardware"].text();
      const DType dtype = dtype_or_f32(entry);
      if (times.ms.size() > 1 && dtype != times.dtype) {
        entry.fail("is in " + std::string(name_of(dtype)) + ", and the entries before it are in " +
                   std::string(name_of(times.dtype)));
      }
      times.dtype = dtype;
    }
  }
  return times;
}

RecordedTimes from_table(const JsonField& file, const std::string& path,
                         const std::string& column) {
  const auto entries = file["tasks"].members();
  std::set<std::string> found;
  for (const auto& [key, entry] : entries) {
    for (const auto& [name, value] : entry.members()) {
      if (value.is_number() || value.is_null()) found.insert(name);
    }
  }
  if (found.empty()) file["tasks"].fail("holds no times");
  RecordedTimes times;
  times.column = choose_column(path, column, {found.begin(), found.end()}, "eager_strict_ms");
  if (file.has("device")) times.device = file["device"].text();
  times.dtype = dtype_or_f32(file);
  if (file.has("preset")) {
    times.preset = file["preset"].text();
    file["preset"].as(preset_from_name);
  }
  for (const auto& [key, entry] : entries) {
    TaskId task;
    try {
      task = parse_task_id(key);
    } catch (const Error& e) {
      entry.fail(": " + e.message());
    }
    if (entry.has(times.column) && !entry[times.column].is_null()) {
      times.ms[task] = time_in(entry[times.column]);
    }
  }
  return times;
}

/// Null where the map has nothing of the task.
template <class T>
const T* of_task(const std::map<TaskId, T>& values, TaskId task) {
  auto found = values.find(task);
  if (found == values.end() && !task.own.empty()) {
    task.meaning = 0;
    found = values.find(task);
  }
  return found == values.end() ? nullptr : &found->second;
}

}  // namespace

const double* RecordedTimes::find(const TaskId& task) const { return of_task(ms, task); }

std::string RecordedTimes::label() const {
  const std::string in = dtype == DType::f32 ? "" : "in " + std::string(name_of(dtype)) + " ";
  return file + " (" + column + "), recorded " + in + "on " +
         (device.empty() ? "an unnamed device" : device);
}

bool RecordedTimes::same_sizes(const TaskAt& at, std::span<const Task> suite) const {
  const Variables* own = of_task(variables, at.task);
  if (own == nullptr && preset.empty()) return true;
  const Variables theirs = own != nullptr ? *own : variables_of({at.task, preset, {}}, suite);
  return std::ranges::all_of(variables_of(at, suite), [&](const auto& variable) {
    const auto found = theirs.find(variable.first);
    return found == theirs.end() || found->second == variable.second;
  });
}

double RecordedTimes::time_of(const TaskAt& at, std::span<const Task> suite) const {
  const double* found = find(at.task);
  if (found == nullptr) {
    throw Error(ErrorCode::kNotFound, file + " has no " + column + " for " + to_string(at.task));
  }
  require_same_dtype(at.dtype, *this);
  if (!same_sizes(at, suite)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the time of " + to_string(at.task) + " in " + file + " was taken at other sizes" +
                    (preset.empty() ? "" : " (preset " + preset + ")"));
  }
  return *found;
}

RecordedTimes read_recorded_times(const std::string& path, const std::string& column,
                                  std::span<const Task> suite) {
  const nlohmann::json json = read_json(path);
  const JsonField file(json, path, "");
  RecordedTimes times;
  if (file.has("kbench_baseline")) {
    times = from_own(path, column);
  } else if (file.has("tasks")) {
    times = from_table(file, path, column);
  } else if (std::ranges::any_of(file.members(),
                                 [](const auto& m) { return level_of(m.first).has_value(); })) {
    times = from_kernelbench(file, path, column, suite);
  } else {
    file.fail(
        "holds no times: it has none of 'kbench_baseline' (kbench's own), 'tasks' (a table) and "
        "'level1' (KernelBench's)");
  }
  times.file = std::filesystem::path(path).filename().string();
  return times;
}

std::vector<ComparedTask> BaselineComparison::below(double ratio) const {
  std::vector<ComparedTask> slow = worst(tasks.size());
  std::erase_if(slow, [&](const ComparedTask& task) { return task.ratio >= ratio; });
  return slow;
}

std::vector<ComparedTask> BaselineComparison::worst(size_t count) const {
  std::vector<ComparedTask> sorted = tasks;
  std::ranges::stable_sort(sorted, {}, &ComparedTask::ratio);
  sorted.resize(std::min(count, sorted.size()));
  return sorted;
}

void require_same_dtype(DType ours, const RecordedTimes& theirs) {
  if (ours == theirs.dtype) return;
  throw Error(ErrorCode::kInvalidArgument, "the times in " + theirs.file + " are of tasks in " +
                                               std::string(name_of(theirs.dtype)) + ", not in " +
                                               std::string(name_of(ours)));
}

BaselineComparison compare_baselines(const Baseline& ours, const RecordedTimes& theirs,
                                     std::span<const Task> suite) {
  require_same_dtype(ours.dtype, theirs);
  BaselineComparison comparison;
  std::map<int, std::vector<double>> by_level;
  std::vector<double> all;
  for (const BaselineEntry& entry : ours.tasks) {
    if (!entry.timed()) {
      comparison.not_ours.push_back(entry.task);
      continue;
    }
    if (theirs.find(entry.task) == nullptr) {
      comparison.not_theirs.push_back(entry.task);
      continue;
    }
    ComparedTask& task = comparison.tasks.emplace_back();
    task.task = entry.task;
    task.name = entry.name;
    task.theirs_ms =
        theirs.time_of({entry.task, ours.preset, entry.variables, theirs.dtype}, suite);
    task.ours_ms = entry.times.median_ms;
    task.ratio = task.theirs_ms / task.ours_ms;
    task.roofline_share = entry.roofline_share();
    task.eager_share = entry.eager_share();
    by_level[task.task.level].push_back(task.ratio);
    all.push_back(task.ratio);
  }
  for (const auto& [level, ratios] : by_level) {
    comparison.geomean_by_level[level] = geometric_mean(ratios);
  }
  comparison.geomean = geometric_mean(all);
  return comparison;
}

}  // namespace kbench
