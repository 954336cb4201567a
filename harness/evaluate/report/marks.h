// How a cell of the grid says what became of an attempt, readable without colour.
#pragma once

#include <string_view>
#include <vector>

#include "kbench/attempt_set.h"

namespace kbench::report {

struct Mark {
  std::string_view name;  ///< the verdict's or the outcome's
  std::string_view text;  ///< at most five letters; empty: a speedup stands there
  std::string_view kind;  ///< "pass", "bad", or "none" where nothing is known of the model
  std::string_view meaning;
};

/// All of them, how far an attempt came from the least on: of a cell's failures the last counts.
const std::vector<Mark>& marks();
/// Index into marks().
size_t mark_of(const AttemptRow& row);

}  // namespace kbench::report
