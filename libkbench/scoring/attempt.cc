#include "kbench/attempt.h"

#include <cmath>

#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/scoring/attempt_json.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

std::string_view name_of(Outcome outcome) {
  return name_in<Outcome::unanswered>(
      {"candidate", "no_candidate", "wrong_task", "truncated", "refused", "too_long", "unanswered"},
      outcome);
}

Outcome outcome_from_name(std::string_view name) {
  if (const auto outcome = value_named(name, Outcome::unanswered)) return *outcome;
  throw Error(ErrorCode::kInvalidArgument, "there is no outcome '" + std::string(name) + "'");
}

static void read_field(const JsonField& field, Outcome& outcome) {
  outcome = field.as(outcome_from_name);
}

/// Records from before do not know of it.
static bool is_left_out(const Attempt& attempt, std::string_view field) {
  return field == "general" && !attempt.general;
}

std::string to_json(const Attempt& attempt) {
  auto json = json_of<nlohmann::ordered_json>(attempt, Unset::null);
  json["task"] = to_string(attempt.task);
  return json_text(json);
}

static bool holds_its_point(const Interval& speedup) {
  return speedup.low <= speedup.point && speedup.point <= speedup.high;
}

bool is_possible(const Attempt& attempt) {
  const Interval& speedup = attempt.speedup;
  if (!holds_its_point(speedup)) return false;
  return !attempt.correct() || (attempt.outcome == Outcome::candidate && speedup.point > 0 &&
                                std::isfinite(speedup.point));
}

Attempt attempt_from_json(const std::string& line) {
  Attempt attempt;
  return read_plain_attempt(line, attempt) ? attempt : attempt_by_fields(line);
}

Attempt attempt_by_fields(const std::string& line) {
  static const std::string kNoFile;
  const nlohmann::json json = parse_json(line, kNoFile);
  const JsonField fields(json, kNoFile, "attempt");
  Attempt a;
  read_value(fields, a, {.reals = Reals::not_negative});
  const auto expect_least = [&](const char* name, int value, int least) {
    if (value < least) fields[name].fail("must be at least " + std::to_string(least));
  };
  expect_least("sample", a.sample, 1);
  expect_least("attempt", a.attempt, 1);
  expect_least("parent", a.parent, 0);
  each_field(
      [&](const char* name, const std::optional<int64_t>& tokens) {
        if (tokens.value_or(0) < 0) fields["usage"][name].fail("must not be negative");
      },
      a.usage);
  if (!holds_its_point(a.speedup)) fields["speedup"].fail("must be in order: low, point, high");
  if (!is_possible(a)) {
    fields["verdict"].fail("is passed, and there is no candidate or no speedup above 0");
  }
  return a;
}

}  // namespace kbench
