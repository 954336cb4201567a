// A plot of one number for each task as SVG: tasks from left to right, a panel for each level.
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
  std::optional<double> second;  ///< a second number of the task, drawn hollow
};

struct Plot {
  std::string title, subtitle;
  std::string axis;            ///< meaning of the numbers
  std::string filled, hollow;  ///< meaning of the two kinds of points; empty: one kind
  bool logarithmic = false;    ///< values must be positive
  double line = 1;             ///< drawn across
  bool level_means = false;    ///< draws each level's geometric mean
  size_t labelled_lowest = 0;  ///< how many of the lowest points show their task's number
  std::vector<PlotPoint> points;
};

/// Deterministic. Throws kInvalidArgument if there are no points.
std::string svg(const Plot& plot);

}  // namespace kbench::report
