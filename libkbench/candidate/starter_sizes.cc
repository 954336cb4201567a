#include "libkbench/candidate/starter_sizes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <variant>

#include "libkbench/base/text.h"

namespace kbench {
namespace {

constexpr char kOpen = '\x01', kClose = '\x02';

using Values = std::vector<double>;  ///< one a graph

/// A part of an expression: its text, and its value at the sizes of each graph.
struct Term {
  std::string text;
  Values values;
  bool atom = true;  ///< needs no parentheses
};

/// The shape variables of the graphs that are numbers, and the elements of those that are lists.
std::vector<Term> variables_of(const std::vector<MarkedText>& texts) {
  std::map<std::string, Values> found;
  for (const MarkedText& each : texts) {
    const Graph& graph = *each.graph;
    for (const std::string& name : graph.variables_read()) {
      const VariableValue& value = graph.variables().find(name)->second;
      if (const auto* number = std::get_if<int64_t>(&value)) {
        found[name].push_back(static_cast<double>(*number));
      } else if (const auto* real = std::get_if<double>(&value)) {
        found[name].push_back(*real);
      } else {
        const auto& list = std::get<std::vector<int64_t>>(value);
        for (size_t i = 0; i < list.size(); ++i) {
          found[name + "[" + std::to_string(i) + "]"].push_back(static_cast<double>(list[i]));
        }
      }
    }
  }
  std::vector<Term> terms;
  for (auto& [name, values] : found) {
    if (values.size() == texts.size()) terms.push_back({name, std::move(values)});
  }
  return terms;
}

Values combined(const Values& a, const Values& b, const std::function<double(double, double)>& f) {
  Values result(a.size());
  for (size_t i = 0; i < a.size(); ++i) result[i] = f(a[i], b[i]);
  return result;
}

Values with(const Values& a, double number, const std::function<double(double, double)>& f) {
  return combined(a, Values(a.size(), number), f);
}

bool all_whole(const Values& values) {
  return std::ranges::all_of(values, [](double v) { return v == std::floor(v); });
}

bool all_same(const Values& values) {
  return std::ranges::all_of(values, [&](double v) { return v == values.front(); });
}

/// Expressions of integers by their values, the simplest for each.
class Expressions {
 public:
  explicit Expressions(std::vector<Term> variables) : variables_(std::move(variables)) {
    std::erase_if(variables_, [](const Term& term) { return !all_whole(term.values); });
    for (const Term& variable : variables_) add(variable);
    add_shifted();
    add_sums();
    add_quotients();
  }

  std::optional<std::string> find(const Values& values) const {
    if (const auto found = known_.find(values); found != known_.end()) return found->second.text;
    return product(values, 3);
  }

 private:
  void add(Term term) { known_.try_emplace(term.values, term); }
  static std::string factor(const Term& term) {
    return term.atom ? term.text : "(" + term.text + ")";
  }

  void add_shifted() {
    for (const Term& each : variables_) {
      for (int c = 1; c <= 16; ++c) {
        const std::string number = std::to_string(c);
        add({each.text + " + " + number, with(each.values, c, std::plus<>()), false});
        add({each.text + " - " + number, with(each.values, c, std::minus<>()), false});
      }
    }
  }
  /// Output extents of windows whose kernel is a variable.
  void add_sums() {
    for (const Term& a : variables_) {
      for (const Term& b : variables_) {
        if (a.text == b.text) continue;
        const Values sum = combined(a.values, b.values, std::plus<>());
        const Values difference = combined(a.values, b.values, std::minus<>());
        add({a.text + " + " + b.text, sum, false});
        add({a.text + " - " + b.text, difference, false});
        add({a.text + " - " + b.text + " + 1", with(difference, 1, std::plus<>()), false});
        add({a.text + " + " + b.text + " - 1", with(sum, 1, std::minus<>()), false});
      }
    }
  }
  void add_quotients() {
    const auto floor_div = [](double a, double b) { return std::floor(a / b); };
    const auto quotient = [&](const Term& term, const std::string& by, const Values& divisors) {
      if (std::ranges::any_of(divisors, [](double d) { return d <= 0; })) return;
      add({factor(term) + " / " + by, combined(term.values, divisors, floor_div), false});
    };
    std::vector<Term> all;
    for (const auto& [values, term] : known_) all.push_back(term);
    for (const Term& term : all) {
      for (int d = 2; d <= 8; ++d) quotient(term, std::to_string(d), Values(term.values.size(), d));
    }
    for (const Term& a : variables_) {
      for (const Term& b : variables_) {
        if (a.text != b.text) quotient(a, b.text, b.values);
      }
    }
  }

  /// Combinations of a variable, a known expression, and a number.
  std::optional<std::string> product(const Values& values, int factors) const {
    for (const Term& variable : variables_) {
      if (std::ranges::any_of(variable.values, [](double v) { return v <= 0; }) ||
          all_same(variable.values)) {
        continue;
      }
      const Values rest = combined(values, variable.values, std::divides<>());
      if (!all_whole(rest)) continue;
      if (all_same(rest)) {
        return rest.front() == 1 ? variable.text
                                 : variable.text + " * " + number_text(rest.front());
      }
      if (const auto found = known_.find(rest); found != known_.end()) {
        return variable.text + " * " + factor(found->second);
      }
      if (factors > 1) {
        if (const auto more = product(rest, factors - 1)) return variable.text + " * " + *more;
      }
    }
    return std::nullopt;
  }

  std::vector<Term> variables_;
  std::map<Values, Term> known_;
};

std::string literal(const SizeMarks::Number& number) {
  return number.real ? to_string(VariableValue(number.value))
                     : std::to_string(static_cast<int64_t>(number.value));
}

/// For YAML: quoted unless it is a name or a number.
std::string in_yaml(const std::string& expression) {
  return expression.find_first_of(" *[(,") == expression.npos ? expression
                                                              : "\"" + expression + "\"";
}

std::string fill(const std::string& text, const std::vector<std::string>& filling) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != kOpen) {
      result += text[i];
      continue;
    }
    size_t index = 0;
    std::from_chars(text.data() + i + 1, text.data() + text.size(), index);
    result += filling.at(index);
    i = text.find(kClose, i);
  }
  return result;
}

}  // namespace

std::string SizeMarks::add(double value, bool real) {
  numbers_.push_back({value, real});
  return kOpen + std::to_string(numbers_.size() - 1) + kClose;
}

std::string SizeMarks::mark(const Shape& shape) {
  return "[" + listed(shape, [&](int64_t extent) { return mark(extent); }) + "]";
}

std::string SizeMarks::mark(const AttributeValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return mark(*number);
  if (const auto* real = std::get_if<double>(&value)) return mark(*real);
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  return mark(std::get<std::vector<int64_t>>(value));
}

std::optional<std::string> fill_with_expressions(const std::vector<MarkedText>& texts) {
  const MarkedText& first = texts.front();
  for (const MarkedText& each : texts) {
    if (each.text != first.text) return std::nullopt;
  }
  const std::vector<Term> variables = variables_of(texts);
  const Expressions expressions(variables);
  std::vector<std::string> filling;
  for (size_t i = 0; i < first.numbers.size(); ++i) {
    Values values;
    for (const MarkedText& each : texts) values.push_back(each.numbers[i].value);
    const auto named = std::ranges::find(variables, values, &Term::values);
    if (all_same(values)) {
      filling.push_back(literal(first.numbers[i]));
    } else if (named != variables.end()) {
      filling.push_back(in_yaml(named->text));
    } else if (first.numbers[i].real) {
      return std::nullopt;
    } else if (const auto found = expressions.find(values)) {
      filling.push_back(in_yaml(*found));
    } else {
      return std::nullopt;
    }
  }
  return fill(first.text, filling);
}

std::string fill_with_numbers(const MarkedText& text) {
  std::vector<std::string> filling;
  for (const SizeMarks::Number& number : text.numbers) filling.push_back(literal(number));
  return fill(text.text, filling);
}

}  // namespace kbench
