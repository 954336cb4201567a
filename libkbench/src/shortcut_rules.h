// The rules that shortcuts and honest variants are made by: one function a way to change a node, in
// the form of mutant_rules.h.
#pragma once

#include "libkbench/src/mutant_rules.h"

namespace kbench {

// Parts of the work (shortcuts_parts.cc, shortcuts_statistics.cc, shortcuts_steps.cc).
void shorten_reductions(const Graph& graph, int node, const AddMutant& add);
void shorten_products(const Graph& graph, int node, const AddMutant& add);
void shorten_statistics(const Graph& graph, int node, const AddMutant& add);
void shorten_steps(const Graph& graph, int node, const AddMutant& add);
// Fewer bits (shortcuts_precision.cc).
void round_operands(const Graph& graph, int node, const AddMutant& add);
void round_results(const Graph& graph, int node, const AddMutant& add);
// Other orders and formulas in float32 (honest_*.cc).
void reorder_sums(const Graph& graph, int node, const AddMutant& add);
void other_formulas(const Graph& graph, int node, const AddMutant& add);

}  // namespace kbench
