// The names of KernelBench's files, which differ from the tasks' names at their ends.
#include <algorithm>

#include "kbench/baseline.h"

namespace kbench {
namespace {

/// KernelBench makes every blank and sign of a title a "_". A task's name leaves out those at the
/// title's end, which some titles of level 1 have: one blank or full stop, or two closing marks of
/// a list of options.
constexpr int kOneMark[] = {1, 2, 4, 6, 7, 8, 9, 12, 26, 27, 35, 36, 37, 38, 39, 72};
constexpr int kTwoMarks[] = {75, 76, 77, 78, 79, 80, 81};

}  // namespace

std::string kernelbench_file(const Task& task) {
  std::string name = std::to_string(task.id.number) + "_" + task.name;
  if (task.id.level == 1 && std::ranges::count(kOneMark, task.id.number) > 0) name += "_";
  if (task.id.level == 1 && std::ranges::count(kTwoMarks, task.id.number) > 0) name += "__";
  return name + ".py";
}

}  // namespace kbench
