// One picture of a number a task, as SVG text: tasks from left to right, a panel a level.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kbench/task.h"

namespace kbench::report {

struct PlotPoint {
  TaskId task;
  std::string name;
  double value = 0;
  std::optional<double> second;  ///< another number of the same task, drawn hollow
};

struct Plot {
  std::string title, subtitle;
  std::string axis;            ///< what the numbers are
  std::string filled, hollow;  ///< what the two kinds of points are; empty: there is one kind
  bool logarithmic = false;    ///< values must then be above zero
  double line = 1;             ///< drawn across
  bool level_means = false;    ///< the geometric mean of each level, drawn across it
  size_t labelled_lowest = 0;  ///< how many of the lowest points bear their task's number
  std::vector<PlotPoint> points;
};

/// The same text for the same plot. Throws Error(kInvalidArgument) when there are no points.
std::string svg(const Plot& plot);

}  // namespace kbench::report
