// Numbers that differ between sizes, as expressions of the sizes' variables.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kbench/variables.h"
#include "libkbench/task_file/fit_expression.h"
#include "libkbench/task_file/pattern.h"

namespace kbench::written {

/// Finds expressions for columns: numbers with a value for each of several sizes.
///
/// An expression is taken if it gives the right value at all sizes where the number is known. The
/// more sizes there are that differ in one variable alone, the less is left to chance; of few sizes
/// only the simplest expressions are taken.
class Fit {
 public:
  /// `sizes`: the variables at each of them; the first `presets` are those that a file has values
  /// for. `counts`: which sizes are looked at, all presets among them. A variable that is missing
  /// at one of these, or a list there of another length, is not used.
  Fit(const std::vector<Variables>& sizes, size_t presets, std::vector<bool> counts);

  /// Where an expression stands: integers are divided as integers are, or as reals. A number in a
  /// name counts what comes before it, so that two sizes are enough to see how it grows.
  enum class Rules { exact, real, name };
  /// An expression of the column's number, or a variable of its own where there is none and the
  /// presets differ; `label` is what that is called.
  Expression number(const Column& column, Rules rules, const std::string& label);
  /// How long an expression is looked for.
  enum class Effort { little, full };
  /// An expression of a column of integers, if there is one; nothing is added.
  std::optional<Expression> find(const Column& column, Effort effort = Effort::full);
  /// Makes an expression of the column known, if it is right; false if it is not.
  bool learn(const Column& column, const Expression& expression);
  /// The bound that makes "weights(bound)" of uniform(low, high); nothing where there is none, or
  /// the numbers do not differ.
  std::optional<Expression> weights_bound(const Column& low, const Column& high);

  /// How many elements the list of that name has; 0 where there is none.
  size_t length_of_list(const std::string& name) const;
  /// Variables that an expression has.
  const std::set<std::string>& used() const { return used_; }
  /// Variables that a number depends on for which no expression was found.
  const std::set<std::string>& unexplained() const { return unexplained_; }
  struct Added {
    std::string name;
    std::vector<VariableValue> values;  ///< at the presets
  };
  /// Variables that were added.
  const std::vector<Added>& added() const { return added_; }

 private:
  using Values = std::vector<double>;  ///< at each size; whole numbers are exact
  /// A variable, or an element of a list.
  struct Atom {
    std::string text, variable;
    Values values;
    bool real = false;
    bool added = false;  ///< without values behind the presets
  };
  struct Term {
    Expression expression;
    Values values;
    std::set<size_t> atoms;
  };
  /// The sizes at which a number is known, and its values there.
  struct Target {
    std::vector<size_t> at;
    Values values;  ///< at each size; only those of `at` count
    bool real = false;
    Rules rules = Rules::exact;
    bool rounded = false;  ///< to six decimals, as bounds of weights are
  };
  /// By how many constants a form has of its own.
  enum class Form { plain, scaled, linear, divided };

  void add_variable(const std::string& name);
  void find_pairs();
  Target target_of(const Column& column, Rules rules) const;
  static bool constant(const Target& target);
  std::set<size_t> certain(const Target& target) const;
  std::set<size_t> possible(const Target& target) const;

  std::string key_of(const Target& target) const;
  Expression used(Expression expression);
  std::optional<Expression> known_or_found(const Target& target, Effort effort);
  std::optional<Expression> without_one(const Target& target, const std::set<size_t>& causes);
  std::optional<Expression> found(const Target& target, Effort effort) const;
  std::optional<Term> search(const Target& target, const std::set<size_t>& needed,
                             const std::set<size_t>& atoms, Effort effort = Effort::full) const;
  Term term_of(size_t atom) const;
  std::vector<Term> terms_of(const std::vector<Term>& a, const std::vector<Term>& b,
                             const Target& target) const;
  std::optional<Term> with_form(const Target& target, const Term& term, Form form) const;
  std::optional<Term> real_form(const Target& target, const Term& term, Form form) const;
  std::optional<Term> divided(const Target& target, const Term& term) const;
  std::optional<Term> product_of_parts(const Target& target, const std::set<size_t>& atoms) const;
  std::optional<Term> if_right(const Target& target, Term term) const;
  /// The same of a term with that text, and these values of its own.
  std::optional<Term> if_right(const Target& target, Term term, const Expression& text,
                               const std::function<double(double)>& value) const;
  bool evaluates(const Target& target, const Expression& expression) const;
  Expression add(const Target& target, const std::string& label);

  const size_t presets_;
  const std::vector<bool> counts_;
  std::vector<Variables> sizes_;
  std::vector<std::map<std::string, double>> names_;  ///< as expressions know them
  std::vector<Atom> atoms_;
  std::map<std::string, size_t> lists_;  ///< lengths
  /// Of each atom, pairs of sizes that differ in nothing else.
  std::vector<std::vector<std::pair<size_t, size_t>>> pairs_;
  std::set<std::string> used_, unexplained_;
  std::vector<Added> added_;
  /// By columns; nothing where none was found.
  std::map<std::string, std::optional<Expression>> known_;
};

}  // namespace kbench::written
