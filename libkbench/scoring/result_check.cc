#include "libkbench/scoring/result_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "kbench/error.h"
#include "kbench/text.h"
#include "libkbench/base/text.h"
#include "libkbench/scoring/result_fields.h"

namespace kbench {
namespace {

/// By how much the median of ratios may differ from the ratio of medians, as a factor: with few
/// samples on a software device whose processors were taken away it was seen to differ by 13.
constexpr double kMostApart = 1000;
/// A nanosecond: no device ends a run sooner, and no driver's clock is finer.
constexpr double kLeastMs = 1e-6;
/// A share is a quotient of sums, which may be a rounding above 1.
constexpr double kRounding = 1e-9;

[[noreturn]] void fail(const std::string& field, const std::string& why) {
  throw Error(ErrorCode::kParse, "result." + field + " " + why);
}

std::string text_of(double value) { return digits_text(value, 6); }

void expect_one_of(const std::string& field, const std::string& value,
                   std::initializer_list<std::string_view> known) {
  if (std::ranges::count(known, value) > 0) return;
  fail(field, "is " + quoted(value) + "; it must be " + listed(known, [](std::string_view each) {
                return each.empty() ? "empty" : std::string(each);
              }));
}

/// Numbers of results are amounts: none is negative, and only an interval's end and an error can be
/// infinite. Goes through all fields, so that none that is added later is forgotten.
struct Amounts {
  std::string at = {};  ///< "holds_at."

  template <class T>
  void operator()(std::string_view name, const T& value) const {
    check(at + std::string(name), value);
  }

  template <class T>
  void check(const std::string& field, const T& value) const {
    if constexpr (std::same_as<T, bool> || std::same_as<T, Variables>) {
    } else if constexpr (std::integral<T>) {
      if (value < 0) fail(field, "is " + std::to_string(value) + ", below 0");
    } else if constexpr (std::floating_point<T>) {
      if (!(value >= 0)) fail(field, "is " + text_of(value) + ", below 0");
      const bool may_be_infinite = field == "max_error" || field.starts_with("speedup.");
      if (std::isinf(value) && !may_be_infinite) fail(field, "is infinite");
    } else if constexpr (kIsOptional<T>) {
      if (value) check(field, *value);
    } else if constexpr (HasFields<T>) {
      each_field(Amounts{field + "."}, value);
    } else if constexpr (requires { typename T::mapped_type; }) {
      for (const auto& [key, member] : value) check(field + "." + shown(key), member);
    } else if constexpr (std::ranges::range<T> && !std::same_as<T, std::string>) {
      for (size_t i = 0; i < value.size(); ++i) {
        check(field + "[" + std::to_string(i) + "]", value[i]);
      }
    }
  }
};

void expect_interval(const Interval& speedup) {
  if (!(speedup.low <= speedup.point)) {
    fail("speedup.low",
         "is " + text_of(speedup.low) + ", above speedup.point, " + text_of(speedup.point));
  }
  if (!(speedup.high >= speedup.point)) {
    fail("speedup.high",
         "is " + text_of(speedup.high) + ", below speedup.point, " + text_of(speedup.point));
  }
}

void expect_labels(const Result& result) {
  if (!result.preset.empty()) {
    try {
      preset_from_name(result.preset);
    } catch (const Error& e) {
      fail("preset", "is wrong: " + e.message());
    }
  }
  expect_one_of("lane", result.lane, {"", "vulkan", "cuda", "torch", "torch-captured"});
  for (size_t i = 0; i < result.diagnostics.size(); ++i) {
    expect_one_of("diagnostics[" + std::to_string(i) + "].severity", result.diagnostics[i].severity,
                  {"error", "warning", "note"});
  }
  for (size_t i = 0; i < result.tuning.size(); ++i) {
    const auto configs = static_cast<int>(result.tuning[i].configs.size());
    if (result.tuning[i].chosen < configs) continue;
    fail("tuning[" + std::to_string(i) + "].chosen",
         "is " + std::to_string(result.tuning[i].chosen) + ", none of the configurations");
  }
  if (result.busy && !result.software_device) {
    fail("busy", "is true of a device that is no CPU");
  }
  if (result.own_kernels && *result.own_kernels > 1 + kRounding) {
    fail("own_kernels", "is " + text_of(*result.own_kernels) + ", above 1, and is a share");
  }
}

void expect_sizes(const HoldsAt& holds_at) {
  const std::string right = std::to_string(holds_at.right), tried = std::to_string(holds_at.tried);
  if (holds_at.tried == 0) fail("holds_at.tried", "is 0; where nothing was tried it is left out");
  if (holds_at.right > holds_at.tried) {
    fail("holds_at.right", "is " + right + " of " + tried + " that were tried");
  }
  if ((holds_at.right < holds_at.tried) != holds_at.first_wrong.has_value()) {
    fail("holds_at.first_wrong", (holds_at.first_wrong ? "is given" : "is missing") +
                                     std::string(" where ") + right + " of " + tried +
                                     " were right");
  }
  if (holds_at.first_wrong && holds_at.first_wrong->verdict == Verdict::passed) {
    fail("holds_at.first_wrong.verdict", "is passed");
  }
}

void expect_time(const char* field, double ms) {
  if (ms >= kLeastMs) return;
  fail(field, "is " + text_of(ms) + " of a result that passed; no run takes less than " +
                  text_of(kLeastMs) + " ms");
}

void expect_measured(const Result& result) {
  const TaskId& task = result.task;
  if (task.own.empty() && task.level == 0 && task.number == 0) {
    fail("task", "is " + to_string(task) + ", none, of a result that passed");
  }
  if (!task.own.empty() && result.settings.find("task=") == std::string::npos) {
    fail("settings", "has no task=HASH, which says what " + to_string(task) + " is");
  }
  if (result.samples == 0) fail("samples", "is 0 of a result that passed; it takes one at least");
  if (!(result.speedup.point > 0) || std::isinf(result.speedup.point)) {
    fail("speedup.point", "is " + text_of(result.speedup.point) +
                              " of a result that passed; it must be above 0 and finite");
  }
  expect_time("candidate_ms", result.candidate_ms);
  expect_time("baseline_ms", result.baseline_ms);
  const double by_times = result.baseline_ms / result.candidate_ms;
  const double apart = result.speedup.point / by_times;
  if (apart > kMostApart || apart < 1 / kMostApart) {
    fail("speedup.point", "is " + text_of(result.speedup.point) +
                              " where baseline_ms / candidate_ms is " + text_of(by_times));
  }
}

}  // namespace

void expect_possible(const Result& result) {
  each_field(Amounts{}, result);
  expect_interval(result.speedup);
  expect_labels(result);
  if (result.holds_at) expect_sizes(*result.holds_at);
  if (result.correct()) expect_measured(result);
}

}  // namespace kbench
