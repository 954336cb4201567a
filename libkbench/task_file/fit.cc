#include "libkbench/task_file/fit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "kbench/candidate.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/symbol_table.h"

namespace kbench::written {
namespace {

double value_of(const Number& number) {
  const auto* whole = std::get_if<int64_t>(&number);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(number);
}

}  // namespace

Fit::Fit(const std::vector<Variables>& sizes, size_t presets, std::vector<bool> counts)
    : presets_(presets), counts_(std::move(counts)), sizes_(sizes) {
  for (const auto& [name, value] : sizes[0]) add_variable(name);
  names_.resize(sizes.size());
  for (size_t g = 0; g < sizes.size(); ++g) names_[g] = expression_names(sizes[g]);
  find_pairs();
}

void Fit::add_variable(const std::string& name) {
  const auto list_of = [&](size_t g) {
    return std::get_if<std::vector<int64_t>>(&sizes_[g].find(name)->second);
  };
  for (size_t g = 0; g < sizes_.size(); ++g) {
    if (!counts_[g]) continue;
    const auto value = sizes_[g].find(name);
    if (value == sizes_[g].end()) return;
    if (value->second.index() != sizes_[0].find(name)->second.index()) return;
    if (list_of(0) != nullptr && list_of(g)->size() != list_of(0)->size()) return;
  }
  const size_t items = list_of(0) != nullptr ? list_of(0)->size() : 1;
  if (list_of(0) != nullptr) lists_[name] = items;
  for (size_t i = 0; i < items; ++i) {
    Atom atom{name, name, Values(sizes_.size(), std::nan("")), false, false};
    if (list_of(0) != nullptr) atom.text += "[" + std::to_string(i) + "]";
    for (size_t g = 0; g < sizes_.size(); ++g) {
      if (!counts_[g]) continue;
      if (const auto* list = list_of(g)) {
        atom.values[g] = static_cast<double>((*list)[i]);
      } else if (const auto* real = std::get_if<double>(&sizes_[g].find(name)->second)) {
        atom.values[g] = *real;
        atom.real = true;
      } else {
        atom.values[g] = static_cast<double>(std::get<int64_t>(sizes_[g].find(name)->second));
      }
    }
    atoms_.push_back(std::move(atom));
  }
}

void Fit::find_pairs() {
  pairs_.resize(atoms_.size());
  for (size_t a = 0; a < sizes_.size(); ++a) {
    for (size_t b = a + 1; b < sizes_.size() && counts_[a]; ++b) {
      if (!counts_[b]) continue;
      size_t differ = 0, which = 0;
      for (size_t i = 0; i < atoms_.size() && differ < 2; ++i) {
        if (atoms_[i].values[a] == atoms_[i].values[b]) continue;
        ++differ;
        which = i;
      }
      if (differ == 1) pairs_[which].emplace_back(a, b);
    }
  }
}

Fit::Target Fit::target_of(const Column& column, Rules rules) const {
  Target target;
  target.rules = rules;
  target.values.assign(sizes_.size(), std::nan(""));
  for (size_t g = 0; g < sizes_.size(); ++g) {
    if (!counts_[g] || !column[g]) continue;
    target.at.push_back(g);
    target.values[g] = value_of(*column[g]);
    if (std::holds_alternative<double>(*column[g])) target.real = true;
  }
  return target;
}

bool Fit::constant(const Target& target) {
  return std::ranges::all_of(
      target.at, [&](size_t g) { return target.values[g] == target.values[target.at[0]]; });
}

/// Atoms that the number is known to depend on.
std::set<size_t> Fit::certain(const Target& target) const {
  std::set<size_t> atoms;
  for (size_t i = 0; i < pairs_.size(); ++i) {
    for (const auto& [a, b] : pairs_[i]) {
      // Neither is true of NaN, which stands for a value that is not known.
      if (target.values[a] < target.values[b] || target.values[a] > target.values[b]) {
        atoms.insert(i);
      }
    }
  }
  return atoms;
}

/// Atoms that the number may depend on: no two of its sizes differ in one of them alone.
std::set<size_t> Fit::possible(const Target& target) const {
  std::set<size_t> atoms;
  for (size_t i = 0; i < atoms_.size(); ++i) {
    const Values& values = atoms_[i].values;
    const bool tried =
        i < pairs_.size() && std::ranges::any_of(pairs_[i], [&](const auto& pair) {
          return !std::isnan(target.values[pair.first]) && !std::isnan(target.values[pair.second]);
        });
    if (tried) continue;
    const bool known =
        std::ranges::none_of(target.at, [&](size_t g) { return std::isnan(values[g]); });
    const bool differs =
        std::ranges::any_of(target.at, [&](size_t g) { return values[g] != values[target.at[0]]; });
    if (known && differs) atoms.insert(i);
  }
  return atoms;
}

Fit::Term Fit::term_of(size_t atom) const {
  const Atom& one = atoms_[atom];
  return {{one.text, Expression::Binds::whole, {one.variable}}, one.values, {atom}};
}

/// All of a + b, a - b, a * b, a / b.
std::vector<Fit::Term> Fit::terms_of(const std::vector<Term>& a, const std::vector<Term>& b,
                                     const Target& target) const {
  const bool real = target.real || target.rules == Rules::real;
  std::vector<Term> terms;
  for (const Term& x : a) {
    for (const Term& y : b) {
      for (const auto& [written, turned] :
           {std::pair('*', false), std::pair('+', false), std::pair('-', false),
            std::pair('/', false), std::pair('-', true), std::pair('/', true)}) {
        const Term &left = turned ? y : x, &right = turned ? x : y;
        if (turned && &a == &b) continue;
        if ((written == '*' || written == '+') && &a == &b && &x > &y) continue;
        if ((written == '-' || written == '/') && &x == &y) continue;
        Term term{combined(left.expression, written, right.expression), target.values, left.atoms};
        term.atoms.insert(right.atoms.begin(), right.atoms.end());
        bool good = true;
        for (const size_t g : target.at) {
          const double l = left.values[g], r = right.values[g];
          double& value = term.values[g];
          if (written == '*') value = l * r;
          if (written == '+') value = l + r;
          if (written == '-') value = l - r;
          if (written == '/') value = real ? l / r : std::floor(l / r);
          good = good && std::isfinite(value);
        }
        if (good) terms.push_back(std::move(term));
      }
    }
  }
  return terms;
}

std::optional<Fit::Term> Fit::search(const Target& target, const std::set<size_t>& needed,
                                     const std::set<size_t>& atoms, Effort effort) const {
  std::vector<std::vector<Term>> terms(5);
  for (const size_t i : atoms) {
    terms[1].push_back(term_of(i));
  }
  // Expressions of few sizes fit by chance.
  std::set<std::vector<double>> different;
  for (const size_t g : target.at) {
    std::vector<double> values;
    for (const size_t i : atoms) values.push_back(atoms_[i].values[g]);
    different.insert(values);
  }
  struct Try {
    size_t size;
    Form form;
    size_t sizes;
  };
  constexpr size_t kMany = 6, kMostAtoms = 5;
  for (const auto& [size, form, sizes] :
       {Try{1, Form::plain, 0}, Try{1, Form::scaled, 0}, Try{2, Form::plain, 3},
        Try{1, Form::linear, 3}, Try{2, Form::scaled, kMany}, Try{3, Form::plain, kMany},
        Try{1, Form::divided, kMany}, Try{2, Form::linear, kMany}, Try{3, Form::scaled, kMany},
        Try{2, Form::divided, kMany}, Try{3, Form::linear, kMany}, Try{4, Form::plain, kMany},
        Try{4, Form::scaled, kMany}}) {
    const bool counts = target.rules == Rules::name && form == Form::linear;
    if (different.size() < sizes && !(counts && size == 1)) continue;
    if (size > 2 && atoms.size() > kMostAtoms) continue;
    if (size < needed.size() || (size > 1 && effort == Effort::little)) continue;
    if (terms[size].empty()) {
      if (size == 2) terms[2] = terms_of(terms[1], terms[1], target);
      if (size == 3) terms[3] = terms_of(terms[2], terms[1], target);
      if (size == 4) {
        // a / b * (a / b) before a * a / (b * b).
        std::vector<Term> parts = terms[2];
        std::stable_partition(parts.begin(), parts.end(), [](const Term& term) {
          return term.expression.text.find('/') != std::string::npos;
        });
        terms[4] = terms_of(parts, parts, target);
      }
    }
    for (const Term& term : terms[size]) {
      if (!std::ranges::includes(term.atoms, needed)) continue;
      if (auto found = with_form(target, term, form)) return found;
    }
  }
  return std::nullopt;
}

/// Where each variable has a part in a product of its own: 16 * ((height - 4) / 2) * width.
std::optional<Fit::Term> Fit::product_of_parts(const Target& target,
                                               const std::set<size_t>& atoms) const {
  if (target.real || atoms.size() < 2) return std::nullopt;
  std::optional<Term> product;
  for (const size_t i : atoms) {
    // The sizes that differ from the first one that has many such in this variable alone.
    Target part = target;
    part.at.clear();
    for (const size_t base : target.at) {
      std::vector<size_t> at = {base};
      for (const auto& [a, b] : pairs_[i]) {
        if (a == base && !std::isnan(target.values[b])) at.push_back(b);
        if (b == base && !std::isnan(target.values[a])) at.push_back(a);
      }
      if (at.size() > part.at.size()) part.at = at;
    }
    int64_t common = 0;
    for (const size_t g : part.at) {
      common = std::gcd(common, static_cast<int64_t>(target.values[g]));
    }
    if (common == 0) return std::nullopt;
    for (const size_t g : part.at) part.values[g] /= static_cast<double>(common);
    auto factor = search(part, {i}, {i});
    if (!factor) return std::nullopt;
    // Its values at all sizes, not only at those where it was found.
    for (const size_t g : target.at) {
      factor->values[g] =
          static_cast<double>(evaluate_integer({factor->expression.text, {}}, names_[g]));
    }
    if (!product) {
      product = factor;
      continue;
    }
    product->expression = combined(product->expression, '*', factor->expression);
    product->atoms.insert(i);
    for (const size_t g : target.at) product->values[g] *= factor->values[g];
  }
  for (const Form form : {Form::plain, Form::scaled, Form::linear}) {
    if (auto found = with_form(target, *product, form)) return found;
  }
  return std::nullopt;
}

std::optional<Expression> Fit::found(const Target& target, Effort effort) const {
  const std::set<size_t> needed = certain(target);
  std::set<size_t> all = possible(target);
  const bool more = !all.empty();
  all.insert(needed.begin(), needed.end());
  std::optional<Term> term;
  if (!needed.empty()) term = search(target, needed, needed, effort);
  if (!term && effort == Effort::full) {
    try {
      term = product_of_parts(target, needed);
    } catch (const Error&) {  // A part that divides by zero at another size.
    }
  }
  if (!term && more) term = search(target, needed, all, effort);
  if (!term) return std::nullopt;
  return term->expression;
}

std::string Fit::key_of(const Target& target) const {
  std::string key = std::to_string(static_cast<int>(target.rules));
  if (target.rounded) key += " rounded";
  for (const double value : target.values) key += " " + number_text(value);
  return key;
}

std::optional<Expression> Fit::known_or_found(const Target& target, Effort effort) {
  const std::string key = key_of(target);
  const auto known = known_.find(key);
  if (known != known_.end() && known->second) return known->second;
  if (known != known_.end() && effort == Effort::full) return std::nullopt;
  auto expression = found(target, effort);
  if (expression || effort == Effort::full) known_[key] = expression;
  return expression;
}

std::optional<Expression> Fit::find(const Column& column, Effort effort) {
  const Target target = target_of(column, Rules::exact);
  if (target.at.empty()) return std::nullopt;
  if (constant(target)) return literal(*column[target.at[0]]);
  return known_or_found(target, effort);
}

bool Fit::learn(const Column& column, const Expression& expression) {
  const Target target = target_of(column, Rules::exact);
  if (target.at.empty() || constant(target) || !evaluates(target, expression)) return false;
  std::optional<Expression>& known = known_[key_of(target)];
  if (!known) known = expression;
  return true;
}

Expression Fit::used(Expression expression) {
  used_.insert(expression.variables.begin(), expression.variables.end());
  return expression;
}

/// An expression where some of the variables that the number depends on have their values at the
/// presets: those that are the same at all presets. These are entered as unexplained.
std::optional<Expression> Fit::without_one(const Target& target, const std::set<size_t>& causes) {
  std::vector<size_t> fixed;
  for (const size_t i : causes) {
    const Values& values = atoms_[i].values;
    bool same = true;
    for (size_t g = 1; g < presets_; ++g) same = same && values[g] == values[0];
    if (same) fixed.push_back(i);
  }
  const auto without = [&](const std::vector<size_t>& atoms) {
    Target rest = target;
    std::erase_if(rest.at, [&](size_t g) {
      return std::ranges::any_of(
          atoms, [&](size_t i) { return atoms_[i].values[g] != atoms_[i].values[0]; });
    });
    for (size_t g = 0; g < sizes_.size(); ++g) {
      if (std::ranges::find(rest.at, g) == rest.at.end()) rest.values[g] = std::nan("");
    }
    std::optional<Expression> expression;
    if (rest.at.empty()) return expression;
    if (constant(rest)) {
      const double value = rest.values[rest.at[0]];
      expression = rest.real ? literal(value) : literal(static_cast<int64_t>(value));
    } else {
      expression = known_or_found(rest, Effort::full);
    }
    if (expression) {
      for (const size_t i : atoms) unexplained_.insert(atoms_[i].variable);
    }
    return expression;
  };
  for (const size_t i : fixed) {
    if (auto expression = without({i})) return expression;
  }
  if (fixed.size() > 1) return without(fixed);
  return std::nullopt;
}

Expression Fit::add(const Target& target, const std::string& label) {
  std::string name;
  for (const char c : label) {
    const char fit = is_word_character(c) ? c : '_';
    if (fit != '_' || !name.ends_with('_')) name += fit;
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "n" + name;
  const auto taken = [&](const std::string& text) {
    return sizes_[0].contains(text) || names_[0].contains(text) ||
           std::ranges::find(expression_functions(), text) != expression_functions().end();
  };
  std::string free = name;
  for (int i = 2; taken(free); ++i) free = name + "_" + std::to_string(i);
  Added added{free, {}};
  Atom atom{free, free, Values(sizes_.size(), std::nan("")), target.real, true};
  for (size_t g = 0; g < presets_; ++g) {
    const bool known = !std::isnan(target.values[g]);
    atom.values[g] = target.values[known ? g : target.at[0]];
    if (target.real) {
      added.values.emplace_back(atom.values[g]);
    } else {
      added.values.emplace_back(static_cast<int64_t>(atom.values[g]));
    }
    names_[g][free] = atom.values[g];
  }
  for (size_t g = presets_; g < sizes_.size(); ++g) names_[g][free] = std::nan("");
  atoms_.push_back(std::move(atom));
  added_.push_back(std::move(added));
  // What had no expression may have one of the new variable.
  std::erase_if(known_, [](const auto& known) { return !known.second; });
  return {free, Expression::Binds::whole, {free}};
}

Expression Fit::number(const Column& column, Rules rules, const std::string& label) {
  Target target = target_of(column, rules);
  if (target.at.empty()) return literal(int64_t{0});  // of a turn that no graph has
  const Number first = *column[target.at[0]];
  if (constant(target)) return literal(first);
  if (auto expression = known_or_found(target, Effort::full)) return used(*expression);
  std::set<size_t> causes = certain(target);
  if (auto expression = without_one(target, causes)) return used(*expression);
  if (causes.empty()) causes = possible(target);
  for (const size_t i : causes) {
    if (!atoms_[i].added) unexplained_.insert(atoms_[i].variable);
  }
  // At the presets alone, and of the variables that were added.
  std::erase_if(target.at, [&](size_t g) { return g >= presets_; });
  for (size_t g = presets_; g < sizes_.size(); ++g) target.values[g] = std::nan("");
  if (target.at.empty() || constant(target)) {
    return literal(target.at.empty() ? first : *column[target.at[0]]);
  }
  const auto known = known_.find(key_of(target));
  if (known != known_.end() && known->second) return used(*known->second);
  for (const Form form : {Form::plain, Form::scaled, Form::linear}) {
    for (size_t i = 0; i < atoms_.size(); ++i) {
      if (!atoms_[i].added) continue;
      if (const auto term = with_form(target, term_of(i), form)) return used(term->expression);
    }
  }
  return used(*(known_[key_of(target)] = add(target, label)));
}

std::optional<Expression> Fit::weights_bound(const Column& low, const Column& high) {
  Target target = target_of(high, Rules::real);
  if (target.at.empty() || constant(target)) return std::nullopt;
  for (const size_t g : target.at) {
    if (!low[g] || value_of(*low[g]) != -target.values[g]) return std::nullopt;
    if (six_decimals(target.values[g]) != target.values[g]) return std::nullopt;
  }
  target.rounded = true;
  auto expression = known_or_found(target, Effort::full);
  if (expression) return used(*expression);
  return std::nullopt;
}

size_t Fit::length_of_list(const std::string& name) const {
  const auto found = lists_.find(name);
  return found == lists_.end() ? 0 : found->second;
}

}  // namespace kbench::written
