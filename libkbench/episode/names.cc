#include <cmath>
#include <string>

#include "kbench/episode.h"
#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

template <class E>
E required(std::string_view name, E last, const std::string& what) {
  if (const auto value = value_named(name, last)) return *value;
  throw Error(ErrorCode::kInvalidArgument, "there is no " + what + " " + quoted(std::string(name)) +
                                               "; there are " + joined(names_to(last)));
}

}  // namespace

std::string_view name_of(Shown shown) {
  return name_in<Shown::history>({"last", "best", "history"}, shown);
}
std::string_view name_of(Smoke smoke) {
  return name_in<Smoke::never>({"first", "after", "never"}, smoke);
}
std::string_view name_of(Episode::Ending ending) {
  return name_in<Episode::Ending::too_long>({"goal", "attempts", "repeated", "too_long"}, ending);
}
Shown shown_from_name(std::string_view name) { return required(name, Shown::history, "context"); }
Smoke smoke_from_name(std::string_view name) { return required(name, Smoke::never, "smoke rule"); }

Goal goal_from_name(std::string_view name) {
  if (name == "correct") return {};
  constexpr std::string_view kFaster = "faster:";
  double faster = 0;
  if (name.starts_with(kFaster)) {
    const bool number = read_number(name.substr(kFaster.size()), faster);
    if (number && std::isfinite(faster) && faster > 0) return {faster};
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      "a goal is 'correct' or 'faster:P' with a speedup P, not " + quoted(std::string(name)));
}

std::string to_string(const Goal& goal) {
  return goal.faster > 0 ? "faster:" + number_text(goal.faster) : "correct";
}

}  // namespace kbench
