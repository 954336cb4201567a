#include "libkbench/scoring/result_check.h"

#include <cmath>

#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

[[noreturn]] void contradiction(const std::string& field, const std::string& why) {
  throw Error(ErrorCode::kParse, "result." + field + " " + why);
}

void expect_positive(const char* field, double value) {
  if (std::isfinite(value) && value > 0) return;
  contradiction(field, "is " + digits_text(value, 6) +
                           " of a result that passed; it must be above 0 and finite");
}

void expect_interval(const Interval& speedup) {
  if (!(speedup.low >= 0))
    contradiction("speedup.low", "is " + digits_text(speedup.low, 6) + ", below 0");
  if (!(speedup.low <= speedup.point)) {
    contradiction("speedup.low", "is " + digits_text(speedup.low, 6) + ", above speedup.point, " +
                                     digits_text(speedup.point, 6));
  }
  if (!(speedup.high >= speedup.point)) {
    contradiction("speedup.high", "is " + digits_text(speedup.high, 6) + ", below speedup.point, " +
                                      digits_text(speedup.point, 6));
  }
}

/// The median of ratios is near the ratio of medians: on the noisiest of devices well within this.
constexpr double kMostApart = 10;

}  // namespace

void expect_consistent(const Result& result) {
  if (result.samples < 0) {
    contradiction("samples", "is " + std::to_string(result.samples) + ", below 0");
  }
  expect_interval(result.speedup);
  if (!result.correct()) return;
  if (result.samples == 0) {
    contradiction("samples", "is 0 of a result that passed; it takes one at least");
  }
  expect_positive("speedup.point", result.speedup.point);
  expect_positive("candidate_ms", result.candidate_ms);
  expect_positive("baseline_ms", result.baseline_ms);
  const double by_times = result.baseline_ms / result.candidate_ms;
  const double apart = result.speedup.point / by_times;
  if (apart > kMostApart || apart < 1 / kMostApart) {
    contradiction("speedup.point", "is " + digits_text(result.speedup.point, 6) +
                                       " where baseline_ms / candidate_ms is " +
                                       digits_text(by_times, 6));
  }
}

}  // namespace kbench
