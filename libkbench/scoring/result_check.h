// Whether a result can be what a measurement came to.
#pragma once

#include "kbench/result.h"

namespace kbench {

/// Throws kParse with the field and what it contradicts: a count below 0, an interval that does not
/// hold its own point, a result that passed without samples or times, a speedup that is not that of
/// the times.
void expect_consistent(const Result& result);

}  // namespace kbench
