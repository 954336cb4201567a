#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "kbench/episode.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

template <class T, size_t N>
using Names = std::array<std::pair<T, std::string_view>, N>;

constexpr Names<Shown, 3> kShown = {
    {{Shown::last, "last"}, {Shown::best, "best"}, {Shown::history, "history"}}};
constexpr Names<Smoke, 3> kSmoke = {
    {{Smoke::first, "first"}, {Smoke::after, "after"}, {Smoke::never, "never"}}};
constexpr Names<Episode::Ending, 4> kEndings = {{{Episode::Ending::goal, "goal"},
                                                 {Episode::Ending::attempts, "attempts"},
                                                 {Episode::Ending::repeated, "repeated"},
                                                 {Episode::Ending::too_long, "too_long"}}};

template <class T, size_t N>
std::string_view name_in(const Names<T, N>& names, T value) {
  for (const auto& [each, name] : names) {
    if (each == value) return name;
  }
  throw Error(ErrorCode::kInternal, "a value without a name");
}

template <class T, size_t N>
T value_in(const Names<T, N>& names, std::string_view name, const std::string& what) {
  std::string known;
  for (const auto& [value, each] : names) {
    if (each == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(each);
  }
  throw Error(ErrorCode::kInvalidArgument,
              "there is no " + what + " " + quoted(std::string(name)) + "; there are " + known);
}

}  // namespace

std::string_view name_of(Shown shown) { return name_in(kShown, shown); }
std::string_view name_of(Smoke smoke) { return name_in(kSmoke, smoke); }
std::string_view name_of(Episode::Ending ending) { return name_in(kEndings, ending); }
Shown shown_from_name(std::string_view name) { return value_in(kShown, name, "context"); }
Smoke smoke_from_name(std::string_view name) { return value_in(kSmoke, name, "smoke rule"); }

Goal goal_from_name(std::string_view name) {
  if (name == "correct") return {};
  constexpr std::string_view kFaster = "faster:";
  double faster = 0;
  if (name.starts_with(kFaster)) {
    const std::string_view number = name.substr(kFaster.size());
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), faster);
    if (error == std::errc() && end == number.data() + number.size() && std::isfinite(faster) &&
        faster > 0) {
      return {faster};
    }
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      "a goal is 'correct' or 'faster:P' with a speedup P, not " + quoted(std::string(name)));
}

std::string to_string(const Goal& goal) {
  return goal.faster > 0 ? "faster:" + number_text(goal.faster) : "correct";
}

}  // namespace kbench
