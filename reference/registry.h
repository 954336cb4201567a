// Which function computes which operator.
#pragma once

#include <string_view>

#include "reference/call.h"

namespace kbench::reference {

/// An operator's CPU implementation.
struct Implementation {
  std::string_view name;
  RunCall* run;
  /// The output may share the first input's memory when their types agree.
  bool in_place = false;
};

/// Throws kUnsupported when the operator has none.
const Implementation& find_implementation(std::string_view name);

}  // namespace kbench::reference
