// The two ways to read an attempt's line: by fields, which knows what to complain of, and fast.
#pragma once

#include <string>
#include <string_view>

#include "kbench/attempt.h"

namespace kbench {

/// Reads a line as to_json writes it, in one go and without a tree. False where there is anything
/// unusual about it, which need not be wrong: attempt_by_fields decides. `attempt` may be one that
/// was read before, whose memory is used again; it is left half read where the line is refused.
bool read_plain_attempt(std::string_view line, Attempt& attempt);

/// Throws kParse with the field.
Attempt attempt_by_fields(const std::string& line);

}  // namespace kbench
