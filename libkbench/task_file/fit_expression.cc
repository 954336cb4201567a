#include "libkbench/task_file/fit_expression.h"

#include <cmath>

#include "libkbench/base/text.h"
#include "libkbench/candidate/symbol_table.h"

namespace kbench::written {

Expression literal(const Number& number) {
  const auto* whole = std::get_if<int64_t>(&number);
  std::string text =
      whole != nullptr ? std::to_string(*whole) : number_text(std::get<double>(number));
  const bool negative = text.starts_with('-');
  return {std::move(text), negative ? Expression::Binds::sum : Expression::Binds::whole, {}};
}

Expression combined(const Expression& a, char sign, const Expression& b) {
  using Binds = Expression::Binds;
  const bool sum = sign == '+' || sign == '-';
  const auto in_parentheses = [](const Expression& e, bool needed) {
    return needed ? "(" + e.text + ")" : e.text;
  };
  const std::string left = in_parentheses(a, !sum && a.binds == Binds::sum);
  // Behind a minus or in a product a sum is one thing; behind '*' and '/' a product is, too.
  const bool apart = sum ? (sign == '-' && b.binds == Binds::sum) || b.text.starts_with('-')
                         : b.binds != Binds::whole;
  std::set<std::string> variables = a.variables;
  variables.insert(b.variables.begin(), b.variables.end());
  return {left + " " + sign + " " + in_parentheses(b, apart), sum ? Binds::sum : Binds::product,
          std::move(variables)};
}

bool is_whole(double x) { return std::abs(x) < kExact && x == std::floor(x); }

Expression number_of(double x) {
  return is_whole(x) ? literal(static_cast<int64_t>(x)) : literal(x);
}

double six_decimals(double x) { return std::round(x * 1e6) / 1e6; }

}  // namespace kbench::written
