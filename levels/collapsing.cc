// Tasks that can be computed with far less work than their operators take.
#include <algorithm>
#include <sstream>
#include <string>

#include "kbench/certificate.h"
#include "kbench/result.h"
#include "levels/algebra.h"

namespace kbench {
namespace {

/// A rewriting that is as much faster than the eager baseline as this makes a task collapse.
constexpr double kCollapse = 2;

std::vector<TaskId> find_collapsing() {
  std::vector<TaskId> found;
  for (const Task& task : tasks()) {
    if (!task.trivial.empty()) found.push_back(task.id);
  }
  std::istringstream lines{std::string(levels::algebra_results())};
  for (std::string line; std::getline(lines, line);) {
    const Result result = result_from_json(line);
    if (result.correct() && result.speedup.low >= kCollapse) found.push_back(result.task);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

const std::vector<TaskId>& collapsing_tasks() {
  static const std::vector<TaskId> found = find_collapsing();
  return found;
}

bool collapses(const TaskId& task) { return std::ranges::binary_search(collapsing_tasks(), task); }

}  // namespace kbench
