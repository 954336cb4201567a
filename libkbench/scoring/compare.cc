#include "kbench/compare.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kGrain = 1 << 16;

bool is_whole(double value) { return std::isfinite(value) && value == std::trunc(value); }

/// An element; of integers all digits.
std::string value(double element, bool whole) {
  constexpr double kMost = 9.2e18;  // of int64_t
  if (!whole || std::abs(element) > kMost) return digits_text(element, 9);
  return std::to_string(static_cast<int64_t>(element));
}

std::string times_text(double times) {
  constexpr double kWhole = 100;  // from here on digits behind the point say nothing
  char text[40];
  std::snprintf(text, sizeof text, times < kWhole || times > 1e15 ? "%.3g" : "%.0f", times);
  return text;
}

/// "largest error 24000 times the tolerated 0.0001".
std::string largest_error(double error, double tolerated) {
  return "largest error " + times_text(error / tolerated) + " times the tolerated " +
         digits_text(tolerated, 2);
}

/// Root mean square of the finite elements.
template <class T>
double rms_of(std::span<const T> values) {
  struct Sum {
    double squares = 0;
    int64_t count = 0;
  };
  const Sum sum = tbb::parallel_deterministic_reduce(
      tbb::blocked_range<size_t>(0, values.size(), kGrain), Sum{},
      [&](const auto& range, Sum part) {
        for (size_t i = range.begin(); i < range.end(); ++i) {
          const double v = static_cast<double>(values[i]);
          if (!std::isfinite(v)) continue;
          part.squares += v * v;
          ++part.count;
        }
        return part;
      },
      [](Sum a, const Sum& b) {
        a.squares += b.squares;
        a.count += b.count;
        return a;
      });
  return sum.count > 0 ? std::sqrt(sum.squares / static_cast<double>(sum.count)) : 0;
}

/// Of a part of the elements.
struct Partial : Comparison {
  double squares = 0;  ///< sum of (|c - r| / (s + |r|))^2 of the elements so far
};

/// The rule for one element of a floating-point output.
struct FloatRule {
  double relative;
  double scale;
  double smallest;  ///< stands for a smaller |r|: a half's smallest normal number, else 0
  ToleranceRule rule;

  double bound(double truth) const {
    return rule == ToleranceRule::kbench ? relative * scale_at(truth)
                                         : relative + relative * std::abs(truth);
  }
  double scale_at(double truth) const { return scale + std::max(std::abs(truth), smallest); }

  /// Counts the element in `found`; returns whether it is right.
  bool judge(double got, double truth, Partial& found) const {
    if (std::isnan(truth)) {
      ++found.truth_nan;
      return false;
    }
    if (!std::isfinite(got) && std::isfinite(truth)) {
      ++found.not_finite;
      return false;
    }
    if (!std::isfinite(truth)) return got == truth;
    const double error = std::abs(got - truth);
    if (error == 0) return true;
    const double share = error / scale_at(truth);
    found.max_error = std::max(found.max_error, share);
    found.squares += share * share;
    return error <= bound(truth);
  }
};

/// Integers and booleans: equal or wrong.
struct ExactRule {
  template <class T>
  bool judge(T got, T truth, Partial& found) const {
    if (got == truth) return true;
    found.max_error = kInfinity;
    return false;
  }
};

Partial merge(Partial a, const Partial& b) {
  a.squares += b.squares;
  a.wrong += b.wrong;
  a.not_finite += b.not_finite;
  a.zero += b.zero;
  a.truth_nan += b.truth_nan;
  a.max_error = std::max(a.max_error, b.max_error);
  if (b.first_wrong >= 0 && (a.first_wrong < 0 || b.first_wrong < a.first_wrong)) {
    a.first_wrong = b.first_wrong;
    a.first_expected = b.first_expected;
    a.first_got = b.first_got;
  }
  return a;
}

template <class T, class U, class Rule>
Partial compare_all(std::span<const T> got, std::span<const U> truth, const Rule& rule) {
  Partial result = tbb::parallel_deterministic_reduce(
      tbb::blocked_range<size_t>(0, got.size(), kGrain), Partial{},
      [&](const auto& range, Partial found) {
        for (size_t i = range.begin(); i < range.end(); ++i) {
          if (got[i] == T{}) ++found.zero;
          if (rule.judge(got[i], truth[i], found)) continue;
          ++found.wrong;
          if (found.first_wrong >= 0) continue;
          found.first_wrong = static_cast<int64_t>(i);
          found.first_expected = static_cast<double>(truth[i]);
          found.first_got = static_cast<double>(got[i]);
        }
        return found;
      },
      merge);
  result.elements = static_cast<int64_t>(got.size());
  return result;
}

template <class T, class U>
Comparison compare_floats(const Tensor& got, const Tensor& truth, double smallest,
                          const Bounds& bounds, ToleranceRule rule) {
  const double rms = rms_of(truth.data<U>());
  Partial result =
      compare_all(got.data<T>(), truth.data<U>(), FloatRule{bounds.relative, rms, smallest, rule});
  result.truth_rms = rms;
  result.set_rms(result.squares, bounds, rule);
  return result;
}

template <class T>
Comparison compare_exact(const Tensor& got, const Tensor& truth) {
  Comparison result = compare_all(got.data<T>(), truth.data<T>(), ExactRule{});
  result.truth_rms = rms_of(truth.data<T>());
  return result;
}

/// Coordinates of a flat row-major index.
Shape coordinates(int64_t flat, const Shape& shape) {
  Shape at(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    at[i] = flat % shape[i];
    flat /= shape[i];
  }
  return at;
}

/// Few elements, all just above the tolerance: as another formula or order in float32 may give.
bool at_the_edge(const Comparison& found, double relative) {
  constexpr int64_t kFewOf = 10'000;  // one in so many
  constexpr double kJustAbove = 1.1;
  const bool only_values =
      !found.rms_beyond && found.not_finite == 0 && found.truth_nan == 0 && found.untouched == 0;
  return only_values && found.wrong <= std::max<int64_t>(found.elements / kFewOf, 1) &&
         found.max_error >= relative && found.max_error <= kJustAbove * relative;
}

}  // namespace

void Comparison::set_rms(double squares, const Bounds& bounds, ToleranceRule rule) {
  const int64_t finite = elements - not_finite - truth_nan;
  rms_error = std::sqrt(squares / static_cast<double>(std::max<int64_t>(finite, 1)));
  rms_beyond = rule == ToleranceRule::kbench && rms_error > bounds.rms;
}

std::string_view name_of(ToleranceRule rule) {
  return name_in<ToleranceRule::kernelbench>({"kbench", "kernelbench"}, rule);
}

ToleranceRule tolerance_rule_from_name(std::string_view name) {
  if (const auto rule = value_named(name, ToleranceRule::kernelbench)) return *rule;
  throw Error(ErrorCode::kInvalidArgument,
              "unknown tolerance rule '" + shown(name) + "'; known: kbench, kernelbench");
}

Comparison compare(const Tensor& got, const Tensor& truth, const Bounds& bounds,
                   ToleranceRule rule) {
  const DType from = got.dtype(), held_to = truth.dtype();
  const bool may_be_wider = from == DType::f32 || is_half(from);
  const bool wider = held_to == DType::f64 || (held_to == DType::f32 && is_half(from));
  if (got.shape() != truth.shape() || !(from == held_to || (may_be_wider && wider))) {
    throw Error(ErrorCode::kShape, "cannot compare a tensor " + to_string(got.type()) +
                                       " with the truth, which is " + to_string(truth.type()));
  }
  const double smallest = smallest_normal(from);
  switch (from) {
    case DType::f16:
    case DType::bf16:
    case DType::f32: {
      const Tensor single = is_half(from) ? got.converted(DType::f32) : got;
      const Tensor right = is_half(held_to) ? truth.converted(DType::f32) : truth;
      return held_to == DType::f64
                 ? compare_floats<float, double>(single, right, smallest, bounds, rule)
                 : compare_floats<float, float>(single, right, smallest, bounds, rule);
    }
    case DType::f64:
      return compare_floats<double, double>(got, truth, smallest, bounds, rule);
    case DType::i64:
      return compare_exact<int64_t>(got, truth);
    case DType::boolean:
      return compare_exact<bool>(got, truth);
    default:
      throw Error(ErrorCode::kUnsupported, "cannot compare elements of type " +
                                               std::string(name_of(from)) +
                                               ": only floats, i64 and bool are compared");
  }
}

Verdict classify(const Comparison& found, const Bounds& bounds) {
  if (found.passed()) return Verdict::passed;
  if (found.untouched == found.elements) return Verdict::not_written;
  // Elements that were not written hold the fill, which is right only by chance. Where many that
  // hold it are right, they were written.
  constexpr double kWrongShare = 0.9;
  if (found.untouched > 0 &&
      static_cast<double>(found.wrong) >= kWrongShare * static_cast<double>(found.untouched)) {
    return Verdict::partly_written;
  }
  if (found.wrong > 0 && found.wrong == found.truth_nan) return Verdict::harness_error;
  if (found.not_finite > 0) return Verdict::not_finite;
  if (found.zero == found.elements && found.truth_rms > 0) return Verdict::all_zero;
  // Where no element is wrong, their mean is: however wide the tolerance, that is precision.
  if (found.wrong == 0) return Verdict::low_precision;
  // float16 and bfloat16 arithmetic errs everywhere, and by a few percent of the scale at most.
  const double low_precision_limit = std::min(100 * bounds.relative, 0.05);
  if (found.max_error <= low_precision_limit &&
      (found.rms_beyond || found.wrong > found.elements / 100)) {
    return Verdict::low_precision;
  }
  return Verdict::wrong_values;
}

std::string describe(const Comparison& found, const Shape& shape, const Bounds& bounds) {
  const std::string in_the_mean = found.rms_beyond
                                      ? "; the root mean square of all errors is " +
                                            times_text(found.rms_error / bounds.rms) +
                                            " times the tolerated " + digits_text(bounds.rms, 2)
                                      : "";
  if (found.wrong == 0) {
    return "all " + std::to_string(found.elements) +
           (found.rms_beyond ? " elements within their own tolerance, " : " elements right, ") +
           largest_error(found.max_error, bounds.relative) + in_the_mean;
  }
  // Elements that were not written are wrong, also where the fill is right by chance.
  std::string text = std::to_string(std::max(found.wrong, found.untouched)) + " of " +
                     std::to_string(found.elements) + " elements wrong";
  if (found.untouched > 0) {
    text += ", " + std::to_string(found.untouched) + " of them never written";
  }
  if (found.first_wrong >= 0) {
    // The error of integers and booleans is infinite.
    const bool whole =
        std::isinf(found.max_error) && is_whole(found.first_got) && is_whole(found.first_expected);
    text += ", the first at " + to_string(coordinates(found.first_wrong, shape)) + ": got " +
            value(found.first_got, whole) + ", expected " + value(found.first_expected, whole);
  }
  if (found.not_finite > 0) text += "; " + std::to_string(found.not_finite) + " not finite";
  if (found.truth_nan > 0) {
    text += "; the truth is not finite: NaN at " + std::to_string(found.truth_nan) + " elements";
  }
  if (found.max_error > 0 && std::isfinite(found.max_error)) {
    text += "; " + largest_error(found.max_error, bounds.relative) + in_the_mean;
  }
  if (at_the_edge(found, bounds.relative))
    text += "; at the edge: few elements, hardly past the tolerance";
  return text;
}

}  // namespace kbench
