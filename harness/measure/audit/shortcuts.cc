#include "harness/measure/audit/shortcuts.h"

#include <algorithm>
#include <map>
#include <set>

#include "harness/measure/audit/shortcut_rules.h"
#include "kbench/error.h"
#include "kbench/mutants.h"

namespace kbench {
namespace {

struct KindRule {
  VariantKind kind;
  MutantRule rule;
};

/// The one place to add a rule: a line here, a function in one of shortcuts_*.cc or honest_*.cc.
constexpr KindRule kRules[] = {
    {VariantKind::mutant, {"left_out", mutate_by_leaving_out}},
    {VariantKind::mutant, {"parameter", mutate_parameters}},
    {VariantKind::mutant, {"constant", mutate_by_constant}},
    {VariantKind::mutant, {"other_inputs", use_other_inputs}},
    {VariantKind::mutant, {"part_of_reduction", shorten_reductions}},
    {VariantKind::mutant, {"part_of_statistics", shorten_statistics}},
    {VariantKind::mutant, {"part_of_product", shorten_products}},
    {VariantKind::mutant, {"part_of_steps", shorten_steps}},
    {VariantKind::mutant, {"part_of_depth", halve_depth}},
    {VariantKind::subset, {"most_of_reduction", leave_out_terms}},
    {VariantKind::subset, {"most_of_statistics", leave_out_of_statistics}},
    {VariantKind::precision, {"operands", round_operands}},
    {VariantKind::precision, {"results", round_results}},
    {VariantKind::precision, {"sums", add_up_in_halves}},
    {VariantKind::honest, {"stored", store_halves}},
    {VariantKind::honest, {"order", reorder_sums}},
    {VariantKind::honest, {"formula", other_formulas}},
    {VariantKind::honest, {kRunningRule, add_up_in_one_float}},
};

constexpr size_t kFewCalls = 3;
constexpr size_t kMostCalls = 6;  ///< of one operator that are tried one by one

using Replacements = std::map<int, Replacement>;

/// Collects variants of one graph; descriptions of shortcuts stay unique, and those of honest ones.
class Collector {
 public:
  explicit Collector(const Graph& graph) : graph_(graph), labels_(labels_of(graph)) {}

  void add(VariantKind kind, const std::string& rule, const std::string& description,
           Replacements replacements) {
    const bool honest = kind == VariantKind::honest;
    if (replacements.empty() || !seen_.emplace(honest, description).second) return;
    all_.push_back(
        {kind, rule, description, [&graph = graph_, replacements = std::move(replacements)] {
           return pruned(*rewrite(graph, replacements));
         }});
  }

  /// Adds what a rule finds: in all operators at once, in all calls of one operator, in single
  /// calls.
  void add_rule(VariantKind kind, const MutantRule& rule) {
    std::map<std::string, Replacements> everywhere;
    std::map<std::pair<std::string, const Operator*>, std::vector<FoundMutant>> alike;
    for (FoundMutant& found : find_mutants(graph_, rule)) {
      const Operator* op = graph_.node(found.node).call.op;
      everywhere[found.text].emplace(found.node, found.replacement);
      alike[{found.text, op}].push_back(std::move(found));
    }
    const bool together = rule.apply != use_other_inputs;  // each would run the task once more
    const bool whole = kind == VariantKind::precision || kind == VariantKind::honest;
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
        if (kind == VariantKind::honest) continue;
        // Only one of many layers in fewer bits, or over most of its terms, saves next to nothing.
        const bool slight = kind == VariantKind::precision || kind == VariantKind::subset;
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
  /// Which of n calls stand for all: evenly, with the first and the last.
  static std::vector<size_t> chosen(size_t n) {
    std::vector<size_t> list;
    for (size_t i = 0; i < std::min(n, kMostCalls); ++i) {
      list.push_back(n <= kMostCalls ? i : i * (n - 1) / (kMostCalls - 1));
    }
    return list;
  }

  const Graph& graph_;
  std::vector<std::string> labels_;
  std::set<std::pair<bool, std::string>> seen_;  ///< honest, description
  std::vector<Variant> all_;
};

}  // namespace

std::vector<Variant> variants_of(const Graph& graph) {
  Collector collector(graph);
  for (Null& null : nulls(graph)) {
    collector.add(VariantKind::null, null.rule, null.description, std::move(null.replacements));
  }
  for (const auto& [kind, rule] : kRules) collector.add_rule(kind, rule);
  return collector.take();
}

}  // namespace kbench
