// What a task's own check is held against: cheap wrong computations that must not pass, and honest
// ones that must. Every one of them is a graph with the task's inputs, parameters and outputs, so
// that it runs wherever the task runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kbench/graph.h"

namespace kbench {

/// One computation that is not quite the task's.
struct Variant {
  enum class Kind {
    null,    ///< does none of the work: zeros, a constant, the output for other inputs
    mutant,  ///< leaves a part of the work out: an operator, half the steps, every second element
    subset,  ///< takes sums, means and statistics over all but 1/4 to 1/32 of the terms
    precision,  ///< does all of it on operands, intermediates or sums of fewer bits
    honest,     ///< does all of it in float32, in another order or by another formula; in a task
                ///< of halves also with values stored in the type between operators
  };
  Kind kind = Kind::mutant;
  std::string rule;         ///< "zeros", "left_out", "half", "float16", ...
  std::string description;  ///< "without relu"; unique within its kind
  std::vector<int> nodes;   ///< of the task's graph: those it changes; empty for a null
  std::function<std::unique_ptr<Graph>()> build;  ///< valid as long as the task's graph
};
std::string_view name_of(Variant::Kind kind);  ///< "null", "mutant", ...
/// All of them, in order.
inline constexpr Variant::Kind kVariantKinds[] = {Variant::Kind::null, Variant::Kind::mutant,
                                                  Variant::Kind::subset, Variant::Kind::precision,
                                                  Variant::Kind::honest};

/// Inputs that a variant draws beside the task's, from the same distribution, carry this prefix:
/// "other1:x" is another draw of x.
inline constexpr std::string_view kOtherPrefix = "other";

struct VariantOptions {
  /// Where an operator is called more often than this, the first, the last and others evenly
  /// between stand for all (beside the mutant of all calls together). 0: every call.
  int most_calls = 6;
};
/// The rule of honest variants that add up in one float: on the CPU reference they are what they
/// say where its sums are sequential (ReferenceOptions).
inline constexpr const char* kRunningRule = "running";
/// Nulls, then mutants, subsets, precision. Those whose graph would be the task's own are left out.
std::vector<Variant> shortcuts(const Graph& graph, const VariantOptions& options = {});
std::vector<Variant> honest_variants(const Graph& graph, const VariantOptions& options = {});

}  // namespace kbench
