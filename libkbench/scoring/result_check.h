// Whether a result can be what a measurement came to.
#pragma once

#include <string>

#include "kbench/result.h"

namespace kbench {

/// Throws kParse with the field, its value and what it may be: a value that no measurement gives
/// (a negative count, a share above 1, an unknown preset), or one that contradicts another (more
/// sizes right than tried, a passed result without samples, a speedup that is not that of the
/// times).
void expect_possible(const Result& result);

/// A line as it stands, with the kinds of its fields checked and not their values. Throws kParse.
Result unchecked_result(const std::string& line);

}  // namespace kbench
