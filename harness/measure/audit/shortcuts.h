// What a task's own check is held against: cheap wrong computations that must not pass, and honest
// ones that must. Every one of them is a graph with the task's inputs, parameters and outputs, so
// that it runs wherever the task runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kbench/certificate.h"
#include "kbench/graph.h"

namespace kbench {

/// One computation that is not quite the task's.
struct Variant {
  VariantKind kind = VariantKind::mutant;
  std::string rule;                               ///< "zeros", "left_out", "half", "float16", ...
  std::string description;                        ///< "without relu"; unique within its kind
  std::function<std::unique_ptr<Graph>()> build;  ///< valid as long as the task's graph
};

/// Inputs that a variant draws beside the task's, from the same distribution, carry this prefix:
/// "other1:x" is another draw of x.
inline constexpr std::string_view kOtherPrefix = "other";

/// The rule of honest variants that add up in one float: on the CPU reference they are what they
/// say where its sums are sequential (ReferenceOptions).
inline constexpr const char* kRunningRule = "running";
/// Nulls, then mutants, subsets, precision, and honest ones. Those whose graph would be the task's
/// own are left out. Where an operator is called more than six times, the first call, the last and
/// others evenly between stand for all, beside the variant of all calls together.
std::vector<Variant> variants_of(const Graph& graph);

}  // namespace kbench
