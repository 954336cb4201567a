#include "harness/measure/judge/causes.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "kbench/certificate.h"

namespace kbench::judge {
namespace {

/// Of operators that many know by an approximation: what the task takes for them. Empty where it
/// has none.
std::string formulas_of(const Graph& graph) {
  constexpr std::string_view kApproximated[] = {"gelu"};
  std::string text;
  for (const Graph::Node& node : graph.nodes()) {
    const Operator& op = *node.call.op;
    if (std::ranges::find(kApproximated, op.name) == std::end(kApproximated)) continue;
    const std::string one = "; the task's " + op.name + " is " + op.formula;
    if (text.find(one) == std::string::npos) text += one;
  }
  return text;
}

}  // namespace

Finding with_causes(Finding finding, const runner::Built& built, const Graph& graph,
                    std::string_view certificate) {
  const bool slightly = finding.verdict == Verdict::low_precision;
  if (slightly) finding.message += formulas_of(graph);
  // In a task of halves a kernel may declare float16 only to read and write its tensors.
  const bool computes_in_less = !built.float16_kernel.empty() && !is_half(graph.dtype());
  if (computes_in_less) {
    finding.message += "; kernel " + built.float16_kernel + " computes in float16";
  }
  if (!built.approximations.empty()) {
    finding.message += "; " + built.approximations +
                       ", approximate functions as --use_fast_math and intrinsics make them";
  }
  const bool by_value = certificate == kUntried || certificate == kCertifiedPrecision;
  if (slightly && !by_value && !computes_in_less) {
    finding.verdict = Verdict::wrong_values;
  }
  return finding;
}

}  // namespace kbench::judge
