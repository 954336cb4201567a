// Curves with their intervals as one SVG picture, one line for each model. A line can be told by
// its colour, its dashes, its marks or the name at its end.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kbench::report {

struct ChartPoint {
  double x = 0;
  double y = 0;
  double low = 0, high = 0;  ///< interval
};

struct ChartLine {
  std::string name;
  size_t style = 0;  ///< a model has the same style in all charts
  std::vector<ChartPoint> points;
  std::vector<ChartPoint> below;  ///< at the lower bound of speedups; drawn thin
  bool steps = false;             ///< a value holds up to the next x
};

struct Chart {
  std::string id;  ///< file name
  std::string title, x_axis, y_axis;
  bool logarithmic_x = false;
  std::optional<double> mark_x;  ///< a vertical line at p = 1
  std::vector<ChartLine> lines;  ///< the first is drawn last, on top
};

/// The vertical axis is a share from 0 to 1. Throws kInvalidArgument if there is no point.
enum class ChartUse {
  file,  ///< a separate picture, with style and names inside
  page,  ///< for a page that styles it by class; names are empty <text data-style="N"> elements
         ///< that the page fills in page to fill in
};
std::string svg(const Chart& chart, ChartUse use);

}  // namespace kbench::report
