#include "harness/evaluate/report/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/error.h"

namespace kbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Chart example() {
  Chart chart;
  chart.id = "x";
  chart.title = "pass@k";
  chart.x_axis = "k";
  chart.logarithmic_x = true;
  for (int m = 0; m < 3; ++m) {
    ChartLine line{
        .name = "<model " + std::to_string(m) + ">", .style = size_t(m), .points = {}, .below = {}};
    for (const int k : {1, 2, 4}) line.points.push_back({double(k), 0.5, 0.4, 0.6});
    chart.lines.push_back(line);
  }
  return chart;
}

std::vector<double> heights_of_names(const std::string& text) {
  std::vector<double> heights;
  for (size_t at = text.find("class=\"name\""); at != text.npos;
       at = text.find("class=\"name\"", at + 1)) {
    heights.push_back(std::stod(text.substr(text.find(" y=\"", at) + 4)));
  }
  return heights;
}

TEST(LineChart, EscapesNamesInAFileAndLeavesThemToThePage) {
  const std::string file = svg(example(), ChartUse::file);
  EXPECT_THAT(file, HasSubstr("&lt;model 1&gt;"));
  EXPECT_THAT(file, HasSubstr("<style>"));
  const std::string page = svg(example(), ChartUse::page);
  EXPECT_THAT(page, Not(HasSubstr("model")));
  EXPECT_THAT(page, HasSubstr("data-style=\"2\""));
}

TEST(LineChart, KeepsNamesOfLinesThatEndTogetherApart) {
  const std::vector<double> heights = heights_of_names(svg(example(), ChartUse::file));
  ASSERT_EQ(heights.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_GE(std::abs(heights[i] - heights[j]), 11.9);
  }
}

TEST(LineChart, IsTheSameEachTimeAndNeedsPoints) {
  EXPECT_EQ(svg(example(), ChartUse::file), svg(example(), ChartUse::file));
  Chart empty = example();
  for (ChartLine& line : empty.lines) line.points.clear();
  EXPECT_THROW(svg(empty, ChartUse::file), Error);
}

TEST(LineChart, DrawsOnePointAndValuesOutsideWithoutNonsense) {
  Chart chart = example();
  chart.lines.resize(1);
  chart.lines[0].points = {{0, -1, -2, 7}};
  chart.logarithmic_x = false;
  const std::string text = svg(chart, ChartUse::file);
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace kbench::report
