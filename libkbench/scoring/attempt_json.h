// The two ways to read an attempt's line: by fields, with errors that name the field, and fast.
#pragma once

#include <string>
#include <string_view>

#include "kbench/attempt.h"
#include "kbench/fields.h"

namespace kbench {

KBENCH_FIELDS(Usage, input, cached, output, reasoning)
// In the order of the line.
KBENCH_FIELDS(Attempt, model, task, sample, attempt, parent, outcome, leniencies, candidate,
              candidate_hash, verdict, preset, device, speedup, feedback_hash, prompt_hash, usage,
              cost, seconds, operator_steps, general)
KBENCH_OPTIONAL_FIELDS(Attempt, general)

/// Whether the interval holds its point, and what passed is a candidate with a speedup.
bool is_possible(const Attempt& attempt);

/// Reads a line as to_json writes it. False where anything about it is unusual, which need not be
/// wrong: attempt_by_fields decides. `attempt` may be one that was read before, whose memory is
/// used again; it is left half read where the answer is false.
bool read_plain_attempt(std::string_view line, Attempt& attempt);

/// Throws kParse with the field.
Attempt attempt_by_fields(const std::string& line);

}  // namespace kbench
