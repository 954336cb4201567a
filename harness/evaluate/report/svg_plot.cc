#include "harness/evaluate/report/svg_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "harness/evaluate/report/svg_text.h"
#include "kbench/error.h"
#include "kbench/score.h"

namespace kbench::report {
namespace {

constexpr double kWidth = 1200, kHeight = 440;
constexpr double kLeft = 70, kRight = 20, kTop = 76, kBottom = 60;
constexpr double kLevelGap = 16;
/// Distinguishable with every kind of colour vision (Okabe and Ito).
constexpr std::array<const char*, 4> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7"};

std::string text_at(double x, double y, const char* attributes, const std::string& text) {
  return print("<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes) + escaped(text) + "</text>\n";
}

std::string line_between(double x1, double y1, double x2, double y2, const std::string& stroke) {
  return print("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" ", x1, y1, x2, y2) + stroke +
         "/>\n";
}

const char* colour_of(int level) {
  return kColours[static_cast<size_t>(level - 1) % kColours.size()];
}

/// The vertical axis: maps values to pixels, and places the ticks.
class Axis {
 public:
  Axis(const Plot& plot) : logarithmic_(plot.logarithmic) {
    double low = plot.line, high = plot.line;
    for (const PlotPoint& point : plot.points) {
      low = std::min({low, point.value, point.second.value_or(low)});
      high = std::max({high, point.value, point.second.value_or(high)});
    }
    if (logarithmic_) {
      make_logarithmic(low, high);
    } else {
      make_linear(std::min(low, 0.0), high);
    }
  }

  double y(double value) const {
    const double share =
        (scaled(value) - scaled(ticks_.front())) / (scaled(ticks_.back()) - scaled(ticks_.front()));
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  }
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  double scaled(double value) const { return logarithmic_ ? std::log(value) : value; }

  /// Ticks 1, 2, 5, 10, ... from below all values to above.
  void make_logarithmic(double low, double high) {
    const auto tick = [](int i) {
      constexpr double kSteps[] = {1, 2, 5};
      const int decade = i >= 0 ? i / 3 : -((2 - i) / 3);
      return kSteps[i - 3 * decade] * std::pow(10.0, decade);
    };
    int first = 0, last = 0;
    while (tick(first) > low) --first;
    while (tick(last) < high) ++last;
    if (first == last) ++last;
    for (int i = first; i <= last; ++i) ticks_.push_back(tick(i));
  }

  void make_linear(double low, double high) {
    constexpr int kWanted = 5;
    double step = std::pow(10.0, std::floor(std::log10(std::max(high - low, 1e-12) / kWanted)));
    for (const double factor : {2.0, 2.5}) {
      if ((high - low) / step > 2 * kWanted) step *= factor;
    }
    const auto first = static_cast<long>(std::floor(low / step));
    for (long i = first; i == first || ticks_.back() < high - 1e-9 * step; ++i) {
      ticks_.push_back(static_cast<double>(i) * step);
    }
    if (ticks_.size() < 2) ticks_.push_back(ticks_.back() + step);
  }

  bool logarithmic_;
  std::vector<double> ticks_;
};

/// The horizontal position of each point.
class Columns {
 public:
  explicit Columns(const std::vector<PlotPoint>& points) {
    for (const PlotPoint& point : points) ++count_[point.task.level];
    const double gaps = kLevelGap * static_cast<double>(count_.size() - 1);
    pitch_ = (kWidth - kLeft - kRight - gaps) / static_cast<double>(points.size());
    double x = kLeft;
    for (const auto& [level, count] : count_) {
      start_[level] = x;
      x += pitch_ * static_cast<double>(count) + kLevelGap;
    }
  }

  const std::map<int, size_t>& levels() const { return count_; }
  double start(int level) const { return start_.at(level); }
  double end(int level) const {
    return start(level) + pitch_ * static_cast<double>(count_.at(level));
  }
  double x(int level, size_t place) const {
    return start(level) + pitch_ * (static_cast<double>(place) + 0.5);
  }

 private:
  std::map<int, size_t> count_;
  std::map<int, double> start_;
  double pitch_ = 1;
};

std::string frame(const Plot& plot, const Axis& axis, const Columns& columns) {
  std::string text = print(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
      "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      kWidth, kHeight, kWidth, kHeight);
  text += text_at(kLeft, 26, "font-size=\"17\" font-weight=\"bold\"", plot.title);
  text += text_at(kLeft, 46, "fill=\"#555555\"", plot.subtitle);
  for (const double tick : axis.ticks()) {
    const double y = axis.y(tick);
    text += line_between(kLeft, y, kWidth - kRight, y, "stroke=\"#e4e4e4\"");
    text += text_at(kLeft - 8, y + 4, "text-anchor=\"end\"", number(tick, 4));
  }
  const double bottom = kHeight - kBottom;
  for (const auto& [level, count] : columns.levels()) {
    const double start = columns.start(level), end = columns.end(level);
    text += line_between(start, bottom, end, bottom, "stroke=\"#333333\"");
    text += text_at((start + end) / 2, bottom + 20,
                    print("text-anchor=\"middle\" fill=\"%s\"", colour_of(level)).c_str(),
                    "level " + std::to_string(level) + ", " + std::to_string(count) +
                        (count == 1 ? " task" : " tasks"));
  }
  text += text_at(kLeft + (kWidth - kLeft - kRight) / 2, kHeight - 14, "text-anchor=\"middle\"",
                  "tasks, by number within a level");
  text += print("<text transform=\"translate(18 %.1f) rotate(-90)\" text-anchor=\"middle\">",
                (kTop + bottom) / 2) +
          escaped(plot.axis) + "</text>\n";
  text += line_between(kLeft, axis.y(plot.line), kWidth - kRight, axis.y(plot.line),
                       "stroke=\"#333333\" stroke-width=\"1.2\"");
  return text;
}

std::string legend(const Plot& plot) {
  if (plot.hollow.empty()) return "";
  const double y = kTop - 14;
  return print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#555555\"/>\n", kLeft + 4, y - 4) +
         text_at(kLeft + 14, y, "fill=\"#555555\"", plot.filled) +
         print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"none\" stroke=\"#555555\"/>\n",
               kLeft + 314, y - 4) +
         text_at(kLeft + 324, y, "fill=\"#555555\"", plot.hollow);
}

std::string mean_lines(const Plot& plot, const Axis& axis, const Columns& columns) {
  std::string text;
  for (const auto& [level, count] : columns.levels()) {
    std::vector<double> values;
    for (const PlotPoint& point : plot.points) {
      if (point.task.level == level) values.push_back(point.value);
    }
    const double mean = geometric_mean(values);
    if (!(mean > 0)) continue;
    const double y = axis.y(mean);
    text += line_between(
        columns.start(level), y, columns.end(level), y,
        print("stroke=\"%s\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"", colour_of(level)));
    constexpr double kTextWidth = 220;  // in a narrower panel the text is to the left
    const bool fits = columns.end(level) - columns.start(level) >= kTextWidth;
    const std::string attributes =
        print("text-anchor=\"%s\" fill=\"%s\"", fits ? "start" : "end", colour_of(level));
    text += text_at(fits ? columns.start(level) : columns.end(level), kTop - 12, attributes.c_str(),
                    "geometric mean " + number(mean) + " (dashed)");
  }
  return text;
}

}  // namespace

std::string svg(const Plot& plot) {
  if (plot.points.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "there is nothing to draw in '" + plot.title + "'");
  }
  const Axis axis(plot);
  const Columns columns(plot.points);
  std::vector<double> values;
  for (const PlotPoint& point : plot.points) values.push_back(point.value);
  std::ranges::sort(values);
  const size_t labelled = std::min(plot.labelled_lowest, values.size());
  const double label_below = labelled > 0 ? values[labelled - 1] : -HUGE_VAL;

  std::string text = frame(plot, axis, columns) + legend(plot);
  if (plot.level_means) text += mean_lines(plot, axis, columns);
  std::map<int, size_t> place;
  for (const PlotPoint& point : plot.points) {
    const int level = point.task.level;
    const double x = columns.x(level, place[level]++), y = axis.y(point.value);
    const std::string tip = "<title>" + escaped(to_string(point.task) + " " + point.name) + " " +
                            number(point.value) + "</title>";
    if (point.second) {
      text += print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"none\" stroke=\"%s\"/>\n", x,
                    axis.y(*point.second), colour_of(level));
    }
    text += print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\">", x, y, colour_of(level)) +
            tip + "</circle>\n";
    if (point.value <= label_below) {
      text += text_at(x, y + 14, "text-anchor=\"middle\" font-size=\"9\" fill=\"#333333\"",
                      std::to_string(point.task.level) + "/" + std::to_string(point.task.number));
    }
  }
  return text + "</svg>\n";
}

}  // namespace kbench::report
