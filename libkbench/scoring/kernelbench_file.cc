// The names of KernelBench's files, which differ from the tasks' names at their ends.
#include <array>
#include <string_view>

#include "kbench/baseline.h"

namespace kbench {
namespace {

/// KernelBench makes every blank and sign of a title a "_". A task's name leaves out those that end
/// the title: they say nothing.
struct TitleEnd {
  TaskId task;
  std::string_view end;
};
constexpr std::array kTitleEnds = {
    // The title ends in one blank or full stop.
    TitleEnd{{1, 1}, "_"},
    TitleEnd{{1, 2}, "_"},
    TitleEnd{{1, 4}, "_"},
    TitleEnd{{1, 6}, "_"},
    TitleEnd{{1, 7}, "_"},
    TitleEnd{{1, 8}, "_"},
    TitleEnd{{1, 9}, "_"},
    TitleEnd{{1, 12}, "_"},
    TitleEnd{{1, 26}, "_"},
    TitleEnd{{1, 27}, "_"},
    TitleEnd{{1, 35}, "_"},
    TitleEnd{{1, 36}, "_"},
    TitleEnd{{1, 37}, "_"},
    TitleEnd{{1, 38}, "_"},
    TitleEnd{{1, 39}, "_"},
    TitleEnd{{1, 72}, "_"},
    // The title lists options and ends in two marks of such a list.
    TitleEnd{{1, 75}, "__"},
    TitleEnd{{1, 76}, "__"},
    TitleEnd{{1, 77}, "__"},
    TitleEnd{{1, 78}, "__"},
    TitleEnd{{1, 79}, "__"},
    TitleEnd{{1, 80}, "__"},
    TitleEnd{{1, 81}, "__"},
};

}  // namespace

std::string kernelbench_file(const Task& task) {
  std::string name = std::to_string(task.id.number) + "_" + task.name;
  for (const TitleEnd& title : kTitleEnds) {
    if (title.task == task.id) name += title.end;
  }
  return name + ".py";
}

}  // namespace kbench
