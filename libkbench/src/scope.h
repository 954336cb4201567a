// The names a candidate's expressions see, and the macros its shaders see.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kbench/candidate.h"
#include "kbench/variables.h"

namespace kbench {

/// Functions an expression may call.
const std::vector<std::string>& expression_functions();

/// Shape variables, then constants defined one after another. Copies are cheap enough to give every
/// kernel its own.
class Scope {
 public:
  explicit Scope(const Variables& variables);

  /// Works a constant out from what is known so far; a later definition replaces an earlier one.
  /// Throws kParse when the name is a shape variable's.
  void define(const std::string& name, const Sourced& expression);

  int64_t integer(const Sourced& expression) const;
  double real(const Sourced& expression) const { return evaluate_real(expression, names_); }
  /// Integer in [low, high]; `what` names it in the error.
  int64_t integer(const Sourced& expression, int64_t low, int64_t high,
                  const std::string& what) const;
  /// True when the expression has a decimal point, an exponent or a real name in it: its value is
  /// then a real one, even where it happens to be whole.
  bool is_real(const Sourced& expression) const;
  /// Shape variables as KB_<name>, constants under their own names, in order.
  const std::vector<std::pair<std::string, std::string>>& macros() const { return macros_; }

 private:
  void add(const std::string& name, double value, bool real, const std::string& macro);

  std::map<std::string, double> names_;
  std::set<std::string> variables_;
  std::set<std::string> reals_;
  std::vector<std::pair<std::string, std::string>> macros_;
};

}  // namespace kbench
