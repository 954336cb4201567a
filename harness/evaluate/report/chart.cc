#include "harness/evaluate/report/chart.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/evaluate/report/svg_text.h"
#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::report {
namespace {

constexpr double kChartWidth = 460, kChartHeight = 250;
constexpr double kPlotLeft = 38, kPlotRight = 122, kPlotTop = 12, kPlotBottom = 36;
constexpr double kNameHeight = 12;
constexpr size_t kNameLetters = 16;

constexpr const char* kFileStyle = R"(<style>
svg{background:#fff;font:11px "Helvetica Neue",Arial,sans-serif}
text{fill:#222}.tick,.label{fill:#555}.grid{stroke:#e3e3e3}.axis,.mark-x{stroke:#333}
.mark-x{stroke-dasharray:1 3}.line,.below{fill:none;stroke-width:1.6}.below{stroke-width:.8}
.band{opacity:.13}.dot{stroke-width:1.2}.leader{stroke:#999;stroke-width:.5;fill:none}
.s0{--c:#0062d0}.s1{--c:#d63a00}.s2{--c:#00805a}.s3{--c:#b800a0}
.s4{--c:#4e3c00}.s5{--c:#2b2450}.s6{--c:#6d55e0}.s7{--c:#7c1a3c}
.line,.below,.dot{stroke:var(--c)}.band{fill:var(--c)}.dot{fill:#fff}.full{fill:var(--c)}.name{fill:var(--c)}
.s1 .line{stroke-dasharray:6 2}.s2 .line{stroke-dasharray:2 2}.s3 .line{stroke-dasharray:8 2 2 2}
.s4 .line{stroke-dasharray:14 3}.s5 .line{stroke-dasharray:1 3}.s6 .line{stroke-dasharray:8 2 2 2 2 2}
.s7 .line{stroke-dasharray:4 6}
</style>
)";

/// From values to pixels.
class Frame {
 public:
  explicit Frame(const Chart& chart) : logarithmic_(chart.logarithmic_x) {
    first_ = HUGE_VAL;
    last_ = -HUGE_VAL;
    for (const ChartLine& line : chart.lines) {
      for (const ChartPoint& point : line.points) {
        first_ = std::min(first_, point.x);
        last_ = std::max(last_, point.x);
      }
    }
    if (!(first_ <= last_)) {
      throw Error(ErrorCode::kInvalidArgument, "there is nothing to draw in '" + chart.title + "'");
    }
    if (first_ == last_) last_ = first_ + 1;
  }

  double x(double value) const {
    const double share = (scaled(value) - scaled(first_)) / (scaled(last_) - scaled(first_));
    return kPlotLeft + share * (kChartWidth - kPlotLeft - kPlotRight);
  }
  double y(double value) const {
    return kChartHeight - kPlotBottom -
           std::clamp(value, 0.0, 1.0) * (kChartHeight - kPlotTop - kPlotBottom);
  }

  /// A readable number of ticks.
  std::vector<double> ticks() const {
    constexpr size_t kMost = 8;
    std::vector<double> ticks;
    if (logarithmic_) {
      for (double decade = std::pow(10, std::floor(std::log10(first_))); decade <= last_;
           decade *= 10) {
        for (const double step : {1.0, 2.0, 5.0}) {
          const double tick = step * decade;
          if (tick >= first_ * 0.999 && tick <= last_ * 1.001) ticks.push_back(tick);
        }
      }
      if (ticks.size() > kMost) {
        std::erase_if(ticks, [](double tick) {
          return std::abs(std::log10(tick) - std::round(std::log10(tick))) > 0.01;
        });
      }
      return ticks;
    }
    double step = std::pow(10, std::floor(std::log10(last_ - first_)));
    while ((last_ - first_) / step > kMost) step *= 2;
    for (const double half : {0.5, 0.4}) {
      if ((last_ - first_) / (step * half) <= kMost) step *= half;
    }
    for (double tick = std::ceil(first_ / step) * step; tick <= last_ * 1.001; tick += step) {
      ticks.push_back(std::abs(tick) < step / 1000 ? 0 : tick);
    }
    return ticks;
  }

 private:
  double scaled(double value) const { return logarithmic_ ? std::log(value) : value; }

  bool logarithmic_;
  double first_, last_;
};

std::string axes(const Chart& chart, const Frame& frame) {
  std::string text;
  for (const double tick : {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}) {
    const double y = frame.y(tick);
    text += print("<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>\n", tick == 0 ? "axis" : "grid",
                  kPlotLeft, y, kChartWidth - kPlotRight);
    text += print("<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.1f</text>\n",
                  kPlotLeft - 6, y + 3.5, tick);
  }
  for (const double tick : frame.ticks()) {
    const double x = frame.x(tick), y = frame.y(0);
    text += print("<path class=\"axis\" d=\"M%.1f %.1fv4\"/>\n", x, y);
    text += print("<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                  x, y + 15, number(tick, 4).c_str());
  }
  if (chart.mark_x) {
    text += print("<path class=\"mark-x\" d=\"M%.1f %.1fV%.1f\"/>\n", frame.x(*chart.mark_x),
                  frame.y(0), frame.y(1));
  }
  text += print("<text class=\"label\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                (kPlotLeft + kChartWidth - kPlotRight) / 2, kChartHeight - 5) +
          escaped(chart.x_axis) + "</text>\n";
  return text;
}

std::string polyline(const Frame& frame, const std::vector<ChartPoint>& points, bool steps,
                     double ChartPoint::*value) {
  std::string text;
  for (size_t i = 0; i < points.size(); ++i) {
    const double x = frame.x(points[i].x), y = frame.y(points[i].*value);
    if (i > 0 && steps) text += print("H%.1f", x);
    text += print("%c%.1f %.1f", i == 0 ? 'M' : 'L', x, y);
  }
  return text;
}

std::string band(const Frame& frame, const ChartLine& line) {
  std::string text = polyline(frame, line.points, line.steps, &ChartPoint::high);
  for (size_t i = line.points.size(); i-- > 0;) {
    const double x = frame.x(line.points[i].x), y = frame.y(line.points[i].low);
    if (line.steps && i + 1 < line.points.size()) {
      text += print("V%.1f", y);  // the value holds from this x on
    }
    text += print("L%.1f %.1f", x, y);
  }
  return "<path class=\"band\" d=\"" + text + "Z\"/>\n";
}

/// Eight marks of different shapes, for prints without colour.
std::string dot(double x, double y, size_t style) {
  switch (style % 8) {
    case 0:
      return print("<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\"/>\n", x, y);
    case 1:
      return print("<rect class=\"dot\" x=\"%.1f\" y=\"%.1f\" width=\"5\" height=\"5\"/>\n",
                   x - 2.5, y - 2.5);
    case 2:
      return print("<path class=\"dot\" d=\"M%.1f %.1fl3.2 5.6h-6.4z\"/>\n", x, y - 3.5);
    case 3:
      return print("<path class=\"dot\" d=\"M%.1f %.1fl3.4 3.4l-3.4 3.4l-3.4 -3.4z\"/>\n", x,
                   y - 3.4);
    case 4:
      return print("<path class=\"dot full\" d=\"M%.1f %.1fl3.2 -5.6h-6.4z\"/>\n", x, y + 3.5);
    case 5:
      return print("<path class=\"dot\" d=\"M%.1f %.1fh6.4m-3.2 -3.2v6.4\"/>\n", x - 3.2, y);
    case 6:
      return print("<path class=\"dot\" d=\"M%.1f %.1fl5 5m0 -5l-5 5\"/>\n", x - 2.5, y - 2.5);
    default:
      return print("<circle class=\"dot full\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\"/>\n", x, y);
  }
}

/// A mark at each point, or at about ten of many.
std::string dots(const Frame& frame, const ChartLine& line) {
  constexpr size_t kMost = 10;
  const size_t every = (line.points.size() + kMost - 1) / kMost;
  std::string text;
  for (size_t i = 0; i < line.points.size(); i += every) {
    text += dot(frame.x(line.points[i].x), frame.y(line.points[i].y), line.style);
  }
  return text;
}

/// The heights of the names: as near to their lines' ends as possible without overlapping.
std::vector<double> name_heights(const Frame& frame, const std::vector<ChartLine>& lines) {
  std::vector<size_t> order(lines.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto end = [&](size_t i) { return frame.y(lines[i].points.back().y); };
  std::ranges::stable_sort(order, {}, end);
  std::vector<double> heights(lines.size());
  double last = kPlotTop - kNameHeight;
  for (const size_t i : order) last = heights[i] = std::max(end(i), last + kNameHeight);
  double next = kChartHeight - kPlotBottom + kNameHeight;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    next = heights[*i] = std::min(heights[*i], next - kNameHeight);
  }
  return heights;
}

std::string shortened(const std::string& name) {
  const std::string safe = shown(name);
  if (safe.size() <= kNameLetters) return safe;
  return shown(safe.substr(0, kNameLetters - 1)) + "\u2026";
}

std::string name_at(const Frame& frame, const ChartLine& line, double height, ChartUse use) {
  const ChartPoint& last = line.points.back();
  const double x = kChartWidth - kPlotRight + 8;
  const std::string leader = print("<path class=\"leader\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
                                   frame.x(last.x) + 4, frame.y(last.y), x - 2, height);
  const std::string start = print("<text class=\"name\" data-style=\"%zu\" x=\"%.1f\" y=\"%.1f\">",
                                  line.style, x, height + 3.5);
  return leader + start + (use == ChartUse::file ? escaped(shortened(line.name)) : "") +
         "</text>\n";
}

}  // namespace

std::string svg(const Chart& chart, ChartUse use) {
  Chart drawn = chart;
  std::erase_if(drawn.lines, [](const ChartLine& line) { return line.points.empty(); });
  const Frame frame(drawn);
  std::string text = print(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 %.0f %.0f\" "
      "role=\"img\" aria-label=\"",
      kChartWidth, kChartHeight);
  text += escaped(chart.title + ": " + chart.y_axis) + "\">\n";
  if (use == ChartUse::file) {
    text += "<title>" + escaped(chart.title) + "</title>\n" + kFileStyle;
  }
  text += axes(drawn, frame);
  const std::vector<double> heights = name_heights(frame, drawn.lines);
  for (size_t i = drawn.lines.size(); i-- > 0;) {  // the first last, on top
    const ChartLine& line = drawn.lines[i];
    text += print("<g class=\"s%zu\">\n", line.style % 8);
    text += band(frame, line);
    if (!line.below.empty()) {
      text += "<path class=\"below\" d=\"" +
              polyline(frame, line.below, line.steps, &ChartPoint::y) + "\"/>\n";
    }
    text += "<path class=\"line\" d=\"" + polyline(frame, line.points, line.steps, &ChartPoint::y) +
            "\"/>\n";
    text += dots(frame, line) + name_at(frame, line, heights[i], use) + "</g>\n";
  }
  return text + "</svg>\n";
}

}  // namespace kbench::report
