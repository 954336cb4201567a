// Questions as JSON, by the lists in kbench/question.h.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "kbench/question.h"
#include "libkbench/scoring/json_field.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

KBENCH_FIELDS(RecordedTimes, file, column, device, preset, dtype, ms, variables)

/// What a question read from outside may ask for at most. A sampling plan may not ask for more
/// seconds than the whole trial.
inline constexpr Limits kAnyLimits = {.compile_seconds = 1e6,
                                      .device_seconds = 1e6,
                                      .total_seconds = 1e6,
                                      .host_bytes = int64_t{1} << 50};

/// Reads the members that an object has; the rest of the question stays as it is. Members are those
/// of the lists, all of them optional:
///
///     {"preset": "smoke", "overrides": {"dim": 65}, "dtype": "f32",
///      "rule": {"tolerance": "kbench", "other_sizes": "note", "validate": false, ...},
///      "plan": {"precision": 0.01, "max_seconds": 0, "seed": 7, ...},
///      "limits": {"compile_seconds": 30, ...}, "opponent": "torch",
///      "recorded": {"file": "torch.json", "column": "eager_ms"}, "check": false}
///
/// `candidate` is left to the caller, as are members that `others` names. As earlier versions wrote
/// it, members of rule, plan and limits may stand in the object itself, `overrides` may be `set`,
/// and `other_sizes` a flag beside `general`. Reads the file of recorded times. Throws kParse
/// naming the field: one that there is not, one of another type, a number out of its range.
void read_question(const JsonField& object, const std::vector<std::string_view>& others,
                   const Limits& most, Question& question);

/// The members that read_question() reads, those alone in which the question differs from `usual`,
/// and no recorded times.
nlohmann::json question_json(const Question& question, const Question& usual = {});

/// Their JSON Schema: an object of properties.
nlohmann::ordered_json question_schema();

}  // namespace kbench
