// The smallest sizes at which a candidate fails.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/evaluate/diagnose/look.h"
#include "kbench/feedback.h"

namespace kbench::diagnose {

/// Where the candidate fails: at the sizes it was judged at, or those of preset smoke, or near to
/// them. `right_when_small` tells that it computed preset smoke rightly.
struct Failure {
  std::optional<Look> look;
  Preset preset = Preset::smoke;
  bool right_when_small = false;
  std::vector<std::string> not_tried = {};  ///< sizes that could not be looked at, and why
};

/// Tries a few sizes, the most telling first: enough elements to see a pattern, few enough for the
/// CPU reference.
Failure find_failure(Looker& looker, const Result& result, const Variables& overrides,
                     const TimeLimit& deadline);

/// From a failing look to a smaller one that fails alike, by at most `tries` looks. Nothing where
/// none smaller does.
std::optional<Look> shrink(Looker& looker, const Look& failing, Preset preset, int tries,
                           const TimeLimit& deadline);

/// As feedback shows it: sizes, arrays that are short enough to be read, the first wrong elements.
FailingCase failing_case(const Look& look, double relative);

}  // namespace kbench::diagnose
