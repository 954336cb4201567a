// The mark in a cell of the grid: an attempt's outcome, readable without colour.
#pragma once

#include <string_view>
#include <vector>

#include "kbench/attempt_set.h"

namespace kbench::report {

struct Mark {
  std::string_view name;  ///< of the verdict or outcome
  std::string_view text;  ///< at most five letters; empty: the speedup is shown
  std::string_view kind;  ///< "pass", "bad", or "none" if it says nothing about the model
  std::string_view meaning;
};

/// All marks, by how far the attempt came, the least first. A cell shows the last of its failures.
const std::vector<Mark>& marks();
/// Index into marks().
size_t mark_of(const AttemptRow& row);

}  // namespace kbench::report
