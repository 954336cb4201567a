// Expressions of variables, as texts that a file can have.
#pragma once

#include <set>
#include <string>

#include "libkbench/task_file/entries.h"

namespace kbench::written {

/// A text with what holds its outermost part together.
struct Expression {
  enum class Binds { sum, product, whole };
  std::string text;
  Binds binds = Binds::whole;
  std::set<std::string> variables = {};  ///< that are in the text
};
Expression literal(const Number& number);
/// "a + b", "a - b", "a * b", "a / b", with parentheses where they are needed.
Expression combined(const Expression& a, char sign, const Expression& b);

/// Of a whole number as an integer.
Expression number_of(double x);
bool is_whole(double x);  ///< and exact
/// As kbench rounds the bounds of its weights.
double six_decimals(double x);

}  // namespace kbench::written
