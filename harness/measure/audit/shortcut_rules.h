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

// --- the terms that honest variants add up in other orders ---------------------------------------

/// A way to add up the elements along an axis.
using Sum = Value (*)(Value x, Reduce reduce);

/// An axis as rows of `columns` elements, filled up with zeros.
Value in_rows(Value x, int axis, int64_t columns);
/// The result of a sum, a mean or a norm whose sum is taken by `sum`.
Value reduced_by(Sum sum, const Rewriting& rewriting, int number);
/// The elements whose sum is the loss, in a tensor of one dimension, and what the sum is divided
/// by. Of smooth_l1_loss, triplet_margin_loss and kl_div_batchmean.
struct LossTerms {
  Value terms;
  double count = 1;
};
LossTerms loss_terms(const std::string& loss, const std::vector<Value>& in,
                     const Attributes& attributes);
/// The largest element along an axis, which is kept; finite also where a row is all -infinity.
Value largest_of(Value x, int axis);
/// softmax, log_softmax or logsumexp from its maximum, its exponentials and their sum.
Value from_exponentials(const Graph::Node& node, Value x, Value max, Value exponentials, Value sum);

}  // namespace kbench
