// The forms of an expression: a term with constants that make it the number that is looked for.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "kbench/candidate.h"
#include "libkbench/task_file/fit.h"

namespace kbench::written {
namespace {

/// The largest constant divisor, and what is small where a number is added by chance.
constexpr int64_t kMostDivisor = 64, kSmall = 8;

}  // namespace

bool Fit::evaluates(const Target& target, const Expression& expression) const {
  const Sourced text{expression.text, {}};
  try {
    for (const size_t g : target.at) {
      double value = 0;
      if (target.real || target.rules == Rules::real) {
        value = evaluate_real(text, names_[g]);
      } else {
        value = static_cast<double>(evaluate_integer(text, names_[g]));
      }
      if (target.rounded) value = six_decimals(value);
      if (value != target.values[g]) return false;
    }
  } catch (const Error&) {  // A division by zero, say.
    return false;
  }
  return true;
}

/// The term, if its values are the target's and its text says so.
std::optional<Fit::Term> Fit::if_right(const Target& target, Term term) const {
  for (const size_t g : target.at) {
    const double value = target.rounded ? six_decimals(term.values[g]) : term.values[g];
    if (value != target.values[g]) return std::nullopt;
  }
  if (!evaluates(target, term.expression)) return std::nullopt;
  return term;
}

std::optional<Fit::Term> Fit::if_right(const Target& target, Term term, const Expression& text,
                                       const std::function<double(double)>& value) const {
  term.expression = text;
  for (const size_t g : target.at) term.values[g] = value(term.values[g]);
  return if_right(target, std::move(term));
}

/// floor((e + a) / b) * c + d.
std::optional<Fit::Term> Fit::divided(const Target& target, const Term& term) const {
  const double first = target.values[target.at[0]];
  int64_t factor = 0;
  for (const size_t g : target.at) {
    factor = std::gcd(factor, static_cast<int64_t>(target.values[g] - first));
  }
  if (factor == 0) return std::nullopt;
  const double rest =
      first - std::floor(first / static_cast<double>(factor)) * static_cast<double>(factor);
  for (int64_t by = 2; by <= kMostDivisor; ++by) {
    const auto b = static_cast<double>(by);
    double low = -std::numeric_limits<double>::infinity(), high = -low;
    for (const size_t g : target.at) {
      const double quotient = (target.values[g] - rest) / static_cast<double>(factor);
      low = std::max(low, quotient * b - term.values[g]);
      high = std::min(high, quotient * b + b - 1 - term.values[g]);
    }
    if (low > high) continue;
    const double more = std::clamp(0.0, low, high);
    Term result = term;
    Expression& text = result.expression;
    if (more != 0) text = combined(text, more < 0 ? '-' : '+', number_of(std::abs(more)));
    text = combined(text, '/', number_of(b));
    if (factor != 1) text = combined(number_of(static_cast<double>(factor)), '*', text);
    if (rest != 0) text = combined(text, '+', number_of(rest));
    for (const size_t g : target.at) {
      result.values[g] =
          std::floor((term.values[g] + more) / b) * static_cast<double>(factor) + rest;
    }
    if (auto right = if_right(target, std::move(result))) return right;
  }
  return std::nullopt;
}

std::optional<Fit::Term> Fit::with_form(const Target& target, const Term& term, Form form) const {
  if (target.real) return real_form(target, term, form);
  const size_t first = target.at[0];
  const auto other = std::ranges::find_if(
      target.at, [&](size_t g) { return term.values[g] != term.values[first]; });
  if (other == target.at.end()) return std::nullopt;
  if (form == Form::plain) return if_right(target, term);
  std::set<double> different;
  for (const size_t g : target.at) different.insert(term.values[g]);
  const auto made = [&](const Expression& text, const auto& value) {
    return if_right(target, term, text, value);
  };
  const double x = term.values[first], y = target.values[first];
  if (form == Form::scaled) {
    const double factor = y / x, divisor = x / y, more = y - x;
    if (is_whole(factor) && factor != 0) {
      const Expression text = factor == -1 ? combined(literal(int64_t{0}), '-', term.expression)
                                           : combined(number_of(factor), '*', term.expression);
      if (auto found = made(text, [&](double e) { return e * factor; })) return found;
    }
    if (is_whole(divisor) && divisor > 1) {
      const Expression text = combined(term.expression, '/', number_of(divisor));
      if (auto found = made(text, [&](double e) { return e / divisor; })) return found;
    }
    if (more != 0 && (different.size() > 2 || std::abs(more) <= kSmall)) {
      const Expression text =
          combined(term.expression, more < 0 ? '-' : '+', number_of(std::abs(more)));
      if (auto found = made(text, [&](double e) { return e + more; })) return found;
    }
    return std::nullopt;
  }
  if (form == Form::linear) {
    const double slope = (target.values[*other] - y) / (term.values[*other] - x);
    const double more = y - slope * x;
    if (!is_whole(slope) || slope == 0) return std::nullopt;
    const bool counts = target.rules == Rules::name && slope > 0 && slope <= kMostDivisor;
    if (different.size() < (counts ? 2 : 3)) return std::nullopt;
    Expression text =
        slope < 0 ? number_of(more) : combined(number_of(slope), '*', term.expression);
    if (slope < 0) {
      text = combined(
          text, '-',
          slope == -1 ? term.expression : combined(number_of(-slope), '*', term.expression));
    } else if (more != 0) {
      text = combined(text, more < 0 ? '-' : '+', number_of(std::abs(more)));
    }
    return made(text, [&](double e) { return slope * e + more; });
  }
  return different.size() < 4 ? std::nullopt : divided(target, term);
}

/// Forms of real numbers: with square roots, fractions, factors of few digits.
std::optional<Fit::Term> Fit::real_form(const Target& target, const Term& term, Form form) const {
  using Binds = Expression::Binds;
  const Expression &e = term.expression, one = literal(int64_t{1});
  const Expression root{"sqrt(" + e.text + ")", Binds::whole, e.variables};
  const size_t first = target.at[0];
  const double x = term.values[first], y = target.values[first];
  const auto made = [&](const Expression& text, const auto& value) {
    return if_right(target, term, text, value);
  };
  if (form == Form::plain) {
    if (auto found = made(e, [](double v) { return v; })) return found;
    if (e.binds == Binds::whole) {
      if (auto found = made({"-" + e.text, Binds::sum, e.variables}, [](double v) { return -v; }))
        return found;
    }
    if (auto found = made(combined(one, '/', e), [](double v) { return 1 / v; })) return found;
    if (auto found = made(root, [](double v) { return std::sqrt(v); })) return found;
    return made(combined(one, '/', root), [](double v) { return 1 / std::sqrt(v); });
  }
  if (form != Form::scaled) return std::nullopt;
  // A factor with few digits, as someone has written it down.
  const auto short_one = [](double k) {
    const double rounded = std::round(k * 1000) / 1000;
    return std::abs(rounded - k) <= 1e-5 * std::abs(k) ? rounded : 0;
  };
  if (const double k = short_one(y / x); k != 0) {
    if (auto found = made(combined(number_of(k), '*', e), [&](double v) { return k * v; })) {
      return found;
    }
  }
  if (const double k = short_one(y * x); k != 0) {
    if (auto found = made(combined(number_of(k), '/', e), [&](double v) { return k / v; })) {
      return found;
    }
  }
  if (const double k = short_one(y * std::sqrt(x)); k != 0) {
    if (auto found =
            made(combined(number_of(k), '/', root), [&](double v) { return k / std::sqrt(v); })) {
      return found;
    }
  }
  if (const double k = short_one(y - x); k != 0) {
    if (auto found = made(combined(e, k < 0 ? '-' : '+', number_of(std::abs(k))),
                          [&](double v) { return v + k; })) {
      return found;
    }
  }
  if (const double k = short_one(y + x); k != 0) {
    return made(combined(number_of(k), '-', e), [&](double v) { return k - v; });
  }
  return std::nullopt;
}

}  // namespace kbench::written
