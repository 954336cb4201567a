// The rules that make shortcuts and honest variants: one function for each way to change a node, in
// the form of mutant_rules.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/measure/audit/shortcuts.h"
#include "libkbench/mutants/mutant_rules.h"

namespace kbench {

// What the task would compute for other inputs (shortcuts_nulls.cc).
void use_other_inputs(const Graph& graph, int node, const AddMutant& add);
// Parts of the work (shortcuts_parts.cc, shortcuts_statistics.cc, shortcuts_steps.cc).
void shorten_reductions(const Graph& graph, int node, const AddMutant& add);
void shorten_products(const Graph& graph, int node, const AddMutant& add);
void shorten_statistics(const Graph& graph, int node, const AddMutant& add);
void shorten_steps(const Graph& graph, int node, const AddMutant& add);
void halve_depth(const Graph& graph, int node, const AddMutant& add);
// All but a part of 1/4 to 1/32 of what sums are over (shortcuts_parts.cc,
// shortcuts_statistics.cc).
void leave_out_terms(const Graph& graph, int node, const AddMutant& add);
void leave_out_of_statistics(const Graph& graph, int node, const AddMutant& add);
// Fewer bits (shortcuts_precision.cc).
void round_operands(const Graph& graph, int node, const AddMutant& add);
void round_results(const Graph& graph, int node, const AddMutant& add);
void add_up_in_halves(const Graph& graph, int node, const AddMutant& add);
// What a task of halves may round (shortcuts_precision.cc).
void store_halves(const Graph& graph, int node, const AddMutant& add);
// Other orders and formulas in float32 (honest_*.cc).
void reorder_sums(const Graph& graph, int node, const AddMutant& add);
void other_formulas(const Graph& graph, int node, const AddMutant& add);
void add_up_in_one_float(const Graph& graph, int node, const AddMutant& add);

/// The nulls of a task, each with all its outputs replaced.
struct Null {
  std::string rule, description;
  std::map<int, Replacement> replacements;  ///< of the nodes its outputs come from
};
std::vector<Null> nulls(const Graph& graph);
/// The graph without the nodes that no output needs; inputs, parameters and constants stay, but for
/// draws of other inputs (kOtherPrefix) that nothing reads.
std::unique_ptr<Graph> pruned(const Graph& graph);

}  // namespace kbench
