// A task at sizes of one's choice: its variables with overrides, and the graph they make.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "kbench/error.h"
#include "kbench/task.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

using List = std::vector<int64_t>;

/// No tensor has an extent beyond it, and a product of two such numbers is still an int64.
constexpr int64_t kLargest = int64_t{1} << 31;

/// Computes the lists that follow from other variables, but for those that are given.
void compute_followers(const Task& task, const Variables& given, Variables& variables) {
  for (const VariableSpec& spec : task.variables) {
    if (spec.follows.empty() || given.contains(spec.name)) continue;
    List list;
    for (const auto& extent : spec.follows) {
      const auto* name = std::get_if<std::string>(&extent);
      const VariableValue value =
          name == nullptr ? VariableValue(std::get<int64_t>(extent)) : variables.at(*name);
      const auto* integer = std::get_if<int64_t>(&value);
      list.push_back(integer == nullptr ? 0 : *integer);  // the graph refuses such a list
    }
    variables[spec.name] = list;
  }
}

/// Whether a variable is a list that follows from others.
bool follows(const Task& task, const std::string& name) {
  return std::ranges::any_of(task.variables, [&](const VariableSpec& spec) {
    return spec.name == name && !spec.follows.empty();
  });
}

/// A list may stand for an integer and an integer for a list, as an option of a window does for all
/// dimensions, and a real for an integer: the graph says what it cannot use.
bool may_replace(const VariableValue& old, const VariableValue& value) {
  return old.index() == value.index() || std::holds_alternative<int64_t>(old) ||
         (std::holds_alternative<List>(old) && std::holds_alternative<int64_t>(value));
}

void require_small(const std::string& name, int64_t value) {
  if (value < -kLargest || value > kLargest) {
    throw Error(ErrorCode::kInvalidArgument, "shape variable '" + name + "' is " +
                                                 std::to_string(value) + ", which is beyond " +
                                                 std::to_string(kLargest));
  }
}

void require_sensible(const std::string& name, const VariableValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    require_small(name, *integer);
  } else if (const auto* list = std::get_if<List>(&value)) {
    for (const int64_t item : *list) require_small(name, item);
  } else if (!std::isfinite(std::get<double>(value))) {
    throw Error(ErrorCode::kInvalidArgument, "shape variable '" + name + "' is not finite");
  }
}

/// `variables`: of all that the task reads.
std::unique_ptr<Graph> build_from_variables(const Task& task, const Variables& variables,
                                            DType dtype) {
  auto graph = std::make_unique<Graph>(variables, dtype);
  try {
    for (const auto& [name, value] : variables) require_sensible(name, value);
    task.build(*graph);
  } catch (const Error& e) {
    if (!e.location().file.empty()) throw;  // of a task's file, which is named
    throw Error(e.code(), to_string(task.id) + ": " + e.message());
  }
  return graph;
}

}  // namespace

TaskAt task_at(TaskId task, Preset preset, Variables variables, DType dtype) {
  return {task, std::string(name_of(preset)), std::move(variables), dtype};
}

Variables variables_of(const Task& task, Preset preset, const Variables& overrides) {
  Variables variables;
  for (const VariableSpec& spec : task.variables) variables[spec.name] = spec.at(preset);
  compute_followers(task, {}, variables);
  for (const auto& [name, value] : overrides) {
    const auto it = variables.find(name);
    if (it == variables.end()) {
      std::vector<std::string> known;
      for (const auto& [known_name, old] : variables) known.push_back(known_name);
      throw Error(ErrorCode::kInvalidArgument, to_string(task.id) + " has no shape variable '" +
                                                   name + "'" + suggestion(name, known));
    }
    const auto* integer = std::get_if<int64_t>(&value);
    if (integer != nullptr && std::holds_alternative<double>(it->second)) {
      it->second = static_cast<double>(*integer);
    } else if (may_replace(it->second, value)) {
      it->second = value;
    } else {
      throw Error(ErrorCode::kInvalidArgument,
                  to_string(task.id) + ": " + name + "=" + to_string(value) +
                      " is of another type than its value at the preset, " + to_string(it->second));
    }
  }
  compute_followers(task, overrides, variables);
  return variables;
}

Variables variables_of(const TaskAt& at, std::span<const Task> suite) {
  if (at.preset.empty()) return at.variables;
  return variables_of(find_task(at.task, suite), preset_from_name(at.preset), at.variables);
}

std::unique_ptr<Graph> build_graph(const Task& task, Preset preset, const Variables& overrides,
                                   DType dtype) {
  auto graph = build_from_variables(task, variables_of(task, preset, overrides), dtype);
  graph->set_preset(name_of(preset));
  for (const auto& [name, value] : overrides) {
    if (follows(task, name)) graph->list(name);  // given, it counts as read
    if (graph->variables_read().contains(name)) continue;
    throw Error(ErrorCode::kInvalidArgument,
                to_string(task.id) + ": " + name +
                    " is not used, or follows from the other variables; set one of " +
                    listed(graph->variables_read(), std::identity()));
  }
  return graph;
}

std::unique_ptr<Graph> build_graph(const TaskAt& at, std::span<const Task> suite) {
  const Task& task = find_task(at.task, suite);
  require_defined(task, at.dtype);
  if (at.preset.empty()) return build_from_variables(task, at.variables, at.dtype);
  return build_graph(task, preset_from_name(at.preset), at.variables, at.dtype);
}

}  // namespace kbench
