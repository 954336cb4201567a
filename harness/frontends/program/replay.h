// A result judged again on the values that it was made on.
#pragma once

#include <string>

#include "harness/frontends/program/options.h"
#include "kbench/question.h"
#include "kbench/result.h"

namespace kbench::program {

/// The result that "RESULTS" or "RESULTS:LINE" names for the candidate of that path: without a line
/// the last one of a file of that name. Throws Error where there is none, or it has no seed.
ResultLine result_to_replay(const std::string& where, const std::string& candidate);

/// Sizes and type as the result has them. Throws Error where some were given.
void ask_at_sizes_of(const Result& before, SizeOptions& size);
/// The values that it was judged on, up to the sample in which it failed.
void ask_for_values_of(const Result& before, Question& question);

/// Whether candidate and verdict are the same, in the same words: in a failure those name the first
/// wrong element and its two values.
bool is_repeated(const Result& before, const Result& now);
/// "  replay      of results.jsonl:3: the same verdict, in the same words", and what is not as it
/// was: device, driver, kbench, candidate or settings.
std::string format_replay(const ResultLine& before, const Result& now);
/// {"replay_of": {...}, "result": {...}, "repeated": true, "differs": [...]}
std::string replay_json(const ResultLine& before, const Result& now);

}  // namespace kbench::program
