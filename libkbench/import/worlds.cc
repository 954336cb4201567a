#include "libkbench/import/worlds.h"

#include <algorithm>

#include "kbench/candidate.h"

namespace kbench::importing {
namespace {

std::map<std::string, double> plain_names(const Variables& variables) {
  std::map<std::string, double> names;
  for (const auto& [name, value] : variables) {
    if (const auto* i = std::get_if<int64_t>(&value)) {
      names[name] = static_cast<double>(*i);
    } else if (const auto* r = std::get_if<double>(&value)) {
      names[name] = *r;
    } else {
      const auto& list = std::get<std::vector<int64_t>>(value);
      for (size_t i = 0; i < list.size(); ++i) {
        names[name + "_" + std::to_string(i)] = static_cast<double>(list[i]);
      }
    }
  }
  return names;
}

}  // namespace

Worlds::Worlds(const Task& task, Preset primary) : task_(task) {
  for (Preset preset : kAllPresets) graphs_.push_back(build_graph(task, preset));
  primary_ = 0;
  while (kAllPresets[primary_] != primary) ++primary_;
  for (const auto& [name, value] : graphs_[0]->variables()) {
    const auto* i = std::get_if<int64_t>(&value);
    if (!i || !graphs_[0]->variables_read().contains(name)) continue;
    const int64_t smallest = *i;
    add_world(name, smallest + 1);
    for (const int64_t more : {smallest + 5, 2 * smallest, smallest + 4, smallest + 3}) {
      if (more > smallest + 1 && add_world(name, more)) break;
    }
  }
  for (const auto& graph : graphs_) names_.push_back(plain_names(graph->variables()));
  for (const auto& [name, value] : graphs_[0]->variables()) {
    const auto* list = std::get_if<std::vector<int64_t>>(&value);
    const size_t count = list ? list->size() : 1;
    lists_[name] = list != nullptr;
    for (size_t k = 0; k < count; ++k) {
      const std::string plain = list ? name + "_" + std::to_string(k) : name;
      std::vector<double> at;
      for (const auto& names : names_) {
        const auto found = names.find(plain);
        if (found != names.end()) at.push_back(found->second);
      }
      if (at.size() != names_.size()) continue;
      const bool real = std::holds_alternative<double>(value);
      variables_[name].push_back(importing::variable(plain, at, real));
      if (!real) extents_.emplace_back(plain, variables_[name].back());
    }
  }
}

/// False where the task makes no sense at that value.
bool Worlds::add_world(const std::string& variable, int64_t value) {
  try {
    auto graph = build_graph(task_, Preset::smoke, {{variable, VariableValue{value}}});
    if (graph->values().size() != graphs_[0]->values().size()) return false;
    graphs_.push_back(std::move(graph));
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string_view Worlds::preset(size_t world) const { return name_of(kAllPresets[world]); }

const std::vector<Number>* Worlds::variable(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}
bool Worlds::is_list(const std::string& name) const {
  const auto found = lists_.find(name);
  return found != lists_.end() && found->second;
}

Number Worlds::extent(std::vector<double> at) const {
  Number plain = values(std::move(at), false);
  if (plain.same()) return plain;
  const auto fits = [&](const Number& n) {
    for (size_t w = 0; w < size(); ++w) {
      if (n.value(w) != plain.value(w)) return false;
    }
    return true;
  };
  for (const auto& [name, n] : extents_) {
    if (fits(n)) return n;
  }
  for (const auto& [name, n] : extents_) {  // one more or less, a multiple, a part
    const double difference = plain.value(0) - n.value(0);
    const Number moved = combine(difference < 0 ? "-" : "+", n,
                                 integer(static_cast<int64_t>(std::abs(difference))), false, 0);
    if (fits(moved)) return moved;
    if (n.value(0) > 0 && plain.value(0) >= n.value(0)) {
      const Number more =
          combine("*", n, integer(static_cast<int64_t>(plain.value(0) / n.value(0))), false, 0);
      if (fits(more)) return more;
    }
    if (plain.value(0) > 0 && n.value(0) >= plain.value(0)) {
      const Number less =
          combine("//", n, integer(static_cast<int64_t>(n.value(0) / plain.value(0))), false, 0);
      if (fits(less)) return less;
    }
  }
  for (const auto& [a, x] : extents_) {
    for (const auto& [b, y] : extents_) {
      const Number product = combine("*", x, y, false, 0);
      if (fits(product)) return product;
      const Number less = combine("-", x, y, false, 0);
      const double rest = plain.value(0) - less.value(0);
      const Number moved = combine(rest < 0 ? "-" : "+", less,
                                   integer(static_cast<int64_t>(std::abs(rest))), false, 0);
      if (fits(moved)) return moved;
      if (std::ranges::find(y.at, 0.0) == y.at.end()) {
        const Number part = combine("//", x, y, false, 0);
        if (fits(part)) return part;
      }
    }
  }
  return plain;
}

std::vector<Number> Worlds::shape(const std::vector<int>& values) const {
  std::vector<Number> shape;
  const Shape& first = graph().value(values[0]).type.shape;
  for (size_t d = 0; d < first.size(); ++d) {
    std::vector<double> at;
    for (size_t w = 0; w < size(); ++w) {
      const Shape& s = graph(w).value(values[w]).type.shape;
      at.push_back(d < s.size() ? static_cast<double>(s[d]) : 1.0);
    }
    shape.push_back(extent(std::move(at)));
  }
  return shape;
}

double Worlds::evaluate(const std::string& text, bool real, size_t world) const {
  const Sourced expression{text, {}};
  return real ? evaluate_real(expression, names_[world])
              : static_cast<double>(evaluate_integer(expression, names_[world]));
}

bool Worlds::differs(const Number& n) const {
  for (size_t w = 1; w < kPresets; ++w) {
    if (n.value(w) != n.value(0)) return true;
  }
  return false;
}

}  // namespace kbench::importing
