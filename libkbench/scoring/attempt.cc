#include "kbench/attempt.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/json_text.h"
#include "libkbench/scoring/attempt_json.h"
#include "libkbench/scoring/json_field.h"

namespace kbench {
namespace {

using Json = nlohmann::ordered_json;

int count_from(const JsonField& field, int least) {
  const int value = field.small_integer();
  if (value < least) field.fail("must be at least " + std::to_string(least));
  return value;
}

std::optional<int64_t> tokens_from(const JsonField& field) {
  if (field.is_null()) return std::nullopt;
  const int64_t value = field.integer();
  if (value < 0) field.fail("must not be negative");
  return value;
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  return name_in<Outcome::unanswered>(
      {"candidate", "no_candidate", "wrong_task", "truncated", "refused", "too_long", "unanswered"},
      outcome);
}

Outcome outcome_from_name(std::string_view name) {
  if (const auto outcome = value_named(name, Outcome::unanswered)) return *outcome;
  throw Error(ErrorCode::kInvalidArgument, "there is no outcome '" + std::string(name) + "'");
}

std::string to_json(const Attempt& a) {
  Json json;
  json["model"] = a.model;
  json["answered_by"] = a.answered_by;
  json["task"] = to_string(a.task);
  json["sample"] = a.sample;
  json["attempt"] = a.attempt;
  json["parent"] = a.parent;
  json["outcome"] = std::string(name_of(a.outcome));
  json["leniencies"] = a.leniencies;
  json["candidate"] = a.candidate;
  json["candidate_hash"] = a.candidate_hash;
  json["verdict"] = a.verdict ? Json(std::string(name_of(*a.verdict))) : Json(nullptr);
  json["preset"] = a.preset;
  json["device"] = a.device;
  json["speedup"] = interval_json(a.speedup);
  json["feedback_hash"] = a.feedback_hash;
  json["prompt_hash"] = a.prompt_hash;
  json["usage"] = {{"input", or_null(a.usage.input)},
                   {"cached", or_null(a.usage.cached)},
                   {"output", or_null(a.usage.output)},
                   {"reasoning", or_null(a.usage.reasoning)}};
  json["cost"] = or_null(a.cost);
  json["seconds"] = a.seconds;
  json["operator_steps"] = a.operator_steps;
  // Names and paths may hold anything; a line of JSON is UTF-8.
  return json_text(json);
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
  a.model = fields["model"].text();
  a.answered_by = fields["answered_by"].text();
  a.task = fields["task"].as(parse_task_id);
  a.sample = count_from(fields["sample"], 1);
  a.attempt = count_from(fields["attempt"], 1);
  a.parent = count_from(fields["parent"], 0);
  a.outcome = fields["outcome"].as(outcome_from_name);
  for (const JsonField& item : fields["leniencies"].items()) a.leniencies.push_back(item.text());
  a.candidate = fields["candidate"].text();
  a.candidate_hash = fields["candidate_hash"].text();
  if (const JsonField verdict = fields["verdict"]; !verdict.is_null()) {
    a.verdict = verdict.as(verdict_from_name);
  }
  a.preset = fields["preset"].text();
  a.device = fields["device"].text();
  const JsonField speedup = fields["speedup"];
  a.speedup = {speedup["low"].real_or_infinity(), speedup["point"].real_or_infinity(),
               speedup["high"].real_or_infinity()};
  a.feedback_hash = fields["feedback_hash"].text();
  a.prompt_hash = fields["prompt_hash"].text();
  const JsonField usage = fields["usage"];
  a.usage = {tokens_from(usage["input"]), tokens_from(usage["cached"]),
             tokens_from(usage["output"]), tokens_from(usage["reasoning"])};
  if (const JsonField cost = fields["cost"]; !cost.is_null()) a.cost = cost.positive_real();
  a.seconds = fields["seconds"].positive_real();
  a.operator_steps = fields["operator_steps"].boolean();
  return a;
}

}  // namespace kbench
