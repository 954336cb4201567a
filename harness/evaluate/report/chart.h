// Curves with their intervals as one SVG picture, a line a model. A line is known by its colour,
// its dashes, its marks and the name at its end: any one of them suffices.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kbench::report {

struct ChartPoint {
  double x = 0;
  double y = 0;
  double low = 0, high = 0;  ///< of the interval
};

struct ChartLine {
  std::string name;
  size_t style = 0;  ///< equal styles for one model in all charts
  std::vector<ChartPoint> points;
  std::vector<ChartPoint> below;  ///< the same at the lower bound of speedups; drawn thin
  bool steps = false;             ///< a value holds until the next x
};

struct Chart {
  std::string id;  ///< name of the file
  std::string title, x_axis, y_axis;
  bool logarithmic_x = false;
  std::optional<double> mark_x;  ///< a vertical line, p = 1
  std::vector<ChartLine> lines;  ///< the first is drawn on top
};

/// Shares from 0 to 1 upwards. Throws kInvalidArgument when there is no point.
enum class ChartUse {
  file,  ///< a picture of its own: style and names inside
  page,  ///< for a page that styles it by class; a name is an empty <text data-style="N">, for the
         ///< page to fill in
};
std::string svg(const Chart& chart, ChartUse use);

}  // namespace kbench::report
