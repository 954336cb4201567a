#include <algorithm>

#include "harness/evaluate/report/page.h"
#include "kbench/error.h"

namespace kbench::report {
namespace {

size_t index_of(std::string_view name) {
  const auto found = std::ranges::find(marks(), name, &Mark::name);
  if (found == marks().end()) throw Error(ErrorCode::kInternal, "an outcome without a mark");
  return static_cast<size_t>(found - marks().begin());
}

Mark outcome(Outcome which, std::string_view text, std::string_view meaning) {
  return {name_of(which), text, which == Outcome::unanswered ? "none" : "bad", meaning};
}

Mark verdict(Verdict which, std::string_view text) {
  const bool no_fault = !is_candidates_fault(which) && which != Verdict::passed;
  const std::string_view kind = which == Verdict::passed ? "pass" : no_fault ? "none" : "bad";
  return {name_of(which), text, kind, explain(which)};
}

}  // namespace

const std::vector<Mark>& marks() {
  static const std::vector<Mark> all = {
      outcome(Outcome::unanswered, "\u2026",
              "The request failed, through no fault of the model's."),
      {"unjudged", "?", "none", "A candidate that was not judged yet."},
      verdict(Verdict::harness_error, "kb!"),
      verdict(Verdict::does_not_fit, "big"),
      verdict(Verdict::missing, "\u2013"),
      verdict(Verdict::compiles, "ok?"),
      outcome(Outcome::too_long, "long", "The prompt does not fit the model's context."),
      outcome(Outcome::refused, "refus", "The model or its server declined."),
      outcome(Outcome::truncated, "cut",
              "Cut off at the token limit before a candidate was whole."),
      outcome(Outcome::no_candidate, "text", "An answer without a candidate in it."),
      outcome(Outcome::wrong_task, "other", "The candidate is for another task."),
      verdict(Verdict::invalid_candidate, "form"),
      verdict(Verdict::compile_error, "comp"),
      verdict(Verdict::unsupported, "unsup"),
      verdict(Verdict::out_of_memory, "mem"),
      verdict(Verdict::timeout, "time"),
      verdict(Verdict::crashed, "crash"),
      verdict(Verdict::device_lost, "lost"),
      verdict(Verdict::out_of_bounds, "oob"),
      verdict(Verdict::input_modified, "input"),
      verdict(Verdict::interferes, "busy"),
      verdict(Verdict::not_written, "unwr"),
      verdict(Verdict::partly_written, "part"),
      verdict(Verdict::not_finite, "nan"),
      verdict(Verdict::all_zero, "zero"),
      verdict(Verdict::wrong_values, "wrong"),
      verdict(Verdict::low_precision, "prec"),
      verdict(Verdict::impossible, "imp"),
      verdict(Verdict::not_general, "gen"),
      verdict(Verdict::passed, ""),
  };
  return all;
}

size_t mark_of(const AttemptRow& row) {
  if (row.verdict) return index_of(name_of(*row.verdict));
  if (row.outcome == Outcome::candidate) return index_of("unjudged");
  return index_of(name_of(row.outcome));
}

}  // namespace kbench::report
