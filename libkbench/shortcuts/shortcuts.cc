#include "kbench/shortcuts.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "kbench/error.h"
#include "kbench/mutants.h"
#include "libkbench/shortcuts/shortcut_rules.h"

namespace kbench {
namespace {

/// The one place to add a rule: a line here, a function in one of shortcuts_*.cc or honest_*.cc.
constexpr MutantRule kMutants[] = {
    {"left_out", mutate_by_leaving_out},
    {"parameter", mutate_parameters},
    {"constant", mutate_by_constant},
    {"other_inputs", use_other_inputs},
    {"part_of_reduction", shorten_reductions},
    {"part_of_statistics", shorten_statistics},
    {"part_of_product", shorten_products},
    {"part_of_steps", shorten_steps},
    {"part_of_depth", halve_depth},
};
constexpr MutantRule kSubsets[] = {
    {"most_of_reduction", leave_out_terms},
    {"most_of_statistics", leave_out_of_statistics},
};
constexpr MutantRule kPrecision[] = {
    {"operands", round_operands},
    {"results", round_results},
    {"sums", add_up_in_halves},
};
constexpr MutantRule kHonest[] = {
    {"stored", store_halves},
    {"order", reorder_sums},
    {"formula", other_formulas},
    {kRunningRule, add_up_in_one_float},
};

constexpr size_t kFewCalls = 3;

using Replacements = std::map<int, Replacement>;

/// Collects variants of one graph; descriptions stay unique.
class Collector {
 public:
  Collector(const Graph& graph, const VariantOptions& options)
      : graph_(graph), options_(options), labels_(labels_of(graph)) {}

  void add(Variant::Kind kind, const std::string& rule, const std::string& description,
           Replacements replacements) {
    if (replacements.empty() || !seen_.insert(description).second) return;
    Variant variant{kind, rule, description, {}, {}};
    if (kind != Variant::Kind::null) {
      for (const auto& [node, replacement] : replacements) variant.nodes.push_back(node);
    }
    variant.build = [&graph = graph_, replacements = std::move(replacements)] {
      return pruned(*rewrite(graph, replacements));
    };
    all_.push_back(std::move(variant));
  }

  /// Adds what a rule finds: in all operators at once, in all calls of one operator, in single
  /// calls.
  void add_rule(Variant::Kind kind, const MutantRule& rule) {
    std::map<std::string, Replacements> everywhere;
    std::map<std::pair<std::string, const Operator*>, std::vector<FoundMutant>> alike;
    for (FoundMutant& found : find_mutants(graph_, rule)) {
      const Operator* op = graph_.node(found.node).call.op;
      everywhere[found.text].emplace(found.node, found.replacement);
      alike[{found.text, op}].push_back(std::move(found));
    }
    const bool together = rule.apply != use_other_inputs;  // each would run the task once more
    const bool whole = kind == Variant::Kind::precision || kind == Variant::Kind::honest;
    std::map<std::string, int> operators;
    for (const auto& [key, found] : alike) ++operators[key.first];
    for (auto& [text, replacements] : everywhere) {
      if (!whole || operators[text] < 2) continue;
      add(kind, rule.name, filled_in(text, "every operator"), std::move(replacements));
    }
    for (const auto& [key, found] : alike) {
      const auto& [text, op] = key;
      if (together && found.size() > 1) {
        Replacements replacements;
        for (const FoundMutant& each : found) replacements.emplace(each.node, each.replacement);
        const std::string every = std::to_string(replacements.size()) + " calls of " + op->name;
        add(kind, rule.name, filled_in(text, every), std::move(replacements));
        if (kind == Variant::Kind::honest) continue;
        // Only one of many layers in fewer bits, or over most of its terms, saves next to nothing.
        const bool slight = kind == Variant::Kind::precision || kind == Variant::Kind::subset;
        if (slight && found.size() > kFewCalls) continue;
      }
      for (const size_t i : chosen(found.size())) {
        add(kind, rule.name, filled_in(text, labels_[static_cast<size_t>(found[i].node)]),
            {{found[i].node, found[i].replacement}});
      }
    }
  }

  std::vector<Variant> take() { return std::move(all_); }

 private:
  /// At most options.most_calls of n, evenly, with the first and the last.
  std::vector<size_t> chosen(size_t n) const {
    const auto most = static_cast<size_t>(options_.most_calls);
    std::vector<size_t> list;
    if (most == 0 || n <= most) {
      for (size_t i = 0; i < n; ++i) list.push_back(i);
    } else if (most == 1) {
      list.push_back(0);
    } else {
      for (size_t i = 0; i < most; ++i) list.push_back(i * (n - 1) / (most - 1));
    }
    return list;
  }

  const Graph& graph_;
  VariantOptions options_;
  std::vector<std::string> labels_;
  std::set<std::string> seen_;
  std::vector<Variant> all_;
};

}  // namespace

std::vector<Variant> shortcuts(const Graph& graph, const VariantOptions& options) {
  Collector collector(graph, options);
  for (Null& null : nulls(graph)) {
    collector.add(Variant::Kind::null, null.rule, null.description, std::move(null.replacements));
  }
  for (const MutantRule& rule : kMutants) collector.add_rule(Variant::Kind::mutant, rule);
  for (const MutantRule& rule : kSubsets) collector.add_rule(Variant::Kind::subset, rule);
  for (const MutantRule& rule : kPrecision) collector.add_rule(Variant::Kind::precision, rule);
  return collector.take();
}

std::vector<Variant> honest_variants(const Graph& graph, const VariantOptions& options) {
  Collector collector(graph, options);
  for (const MutantRule& rule : kHonest) collector.add_rule(Variant::Kind::honest, rule);
  return collector.take();
}

}  // namespace kbench
