// What tells eight models apart in the charts: colours, and for grey paper and colour-blind readers
// dashes and marks. And that the page fits a telephone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "harness/evaluate/report/page.h"

namespace kbench::report {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr size_t kStyles = 8;

/// Red, green and blue, linear.
std::array<double, 3> light_of(const std::string& hex) {
  std::array<double, 3> light;
  for (size_t i = 0; i < 3; ++i) {
    const double value = std::stoi(hex.substr(2 * i, 2), nullptr, 16) / 255.0;
    light[i] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return light;
}

double contrast(const std::string& a, const std::string& b) {
  const auto luminance = [](const std::string& hex) {
    const auto light = light_of(hex);
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] + 0.05;
  };
  const double ratio = luminance(a) / luminance(b);
  return std::max(ratio, 1 / ratio);
}

/// How far apart two colours look: the distance in OKLab, in which 0.02 is just seen.
double difference(const std::string& a, const std::string& b) {
  const auto lab = [](const std::string& hex) -> std::array<double, 3> {
    const auto [red, green, blue] = light_of(hex);
    const double l = std::cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
    const double m = std::cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
    const double s = std::cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
    return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
  };
  const auto x = lab(a), y = lab(b);
  return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

/// The six digits of each variable of that name in the page's style: in the light, in the dark, on
/// paper.
std::vector<std::string> colours_of(const std::string& variable) {
  const std::string style(kPageStyle);
  const std::regex pattern("--" + variable + ": #([0-9a-f]{3,6});");
  std::vector<std::string> found;
  for (std::sregex_iterator at(style.begin(), style.end(), pattern), end; at != end; ++at) {
    std::string hex = (*at)[1];
    if (hex.size() == 3) hex = {hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]};
    found.push_back(hex);
  }
  return found;
}

TEST(Colours, OfEightModelsAreToldApartInTheLightAndInTheDark) {
  const std::vector<std::string> paper = colours_of("paper");
  std::vector<std::vector<std::string>> models;
  for (size_t i = 0; i < kStyles; ++i) models.push_back(colours_of("s" + std::to_string(i)));
  ASSERT_EQ(paper.size(), 3u);
  for (size_t scheme = 0; scheme < paper.size(); ++scheme) {
    for (size_t i = 0; i < kStyles; ++i) {
      ASSERT_EQ(models[i].size(), 3u);
      EXPECT_GE(contrast(models[i][scheme], paper[scheme]), 4.5) << i << " of " << scheme;
      for (size_t j = 0; j < i; ++j) {
        const double least = i < 6 ? 0.15 : 0.1;
        EXPECT_GE(difference(models[i][scheme], models[j][scheme]), least)
            << i << " and " << j << " of " << scheme;
      }
    }
  }
}

/// A group of each match.
std::set<std::string> all_of(const std::regex& pattern, const std::string& text, int group) {
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    found.insert((*at)[group]);
  }
  return found;
}

TEST(Colours, AreNotNeededWhereDashesAndMarksDiffer) {
  const std::regex dash("\\.s[1-7] \\.line \\{ stroke-dasharray: ([0-9 ]+); \\}");
  EXPECT_EQ(all_of(dash, std::string(kPageStyle), 1).size(), kStyles - 1) << "and one without";
  const std::regex mark("\\['(m[-0-9. a-z]+', 'dot[ a-z]*)'\\]");
  EXPECT_EQ(all_of(mark, std::string(kPageScript), 1).size(), kStyles);
}

TEST(Colours, LeaveAPageThatFitsATelephone) {
  const std::string style(kPageStyle);
  // What is wider than the screen scrolls by itself: nothing else may ask for a width.
  EXPECT_THAT(style, HasSubstr(".scroll { overflow-x: auto; }"));
  EXPECT_THAT(style, HasSubstr(".chunks { overflow-x: auto;"));
  EXPECT_THAT(style, HasSubstr("overflow-wrap: anywhere"));
  const std::regex column("minmax\\(([^,]*),");
  for (const std::string& least : all_of(column, style, 1)) EXPECT_EQ(least, "min(25rem") << least;
  const std::regex wide("\n([^\n{]*)\\{[^}]*[^-]min-width: ([0-9.]+)rem");
  for (std::sregex_iterator at(style.begin(), style.end(), wide), end; at != end; ++at) {
    if (std::stod((*at)[2]) * 15 < 360) continue;
    EXPECT_THAT((*at)[1], AnyOf(".numbers ", ".chart.wide ")) << "only these stand in .scroll";
  }
}

}  // namespace
}  // namespace kbench::report
