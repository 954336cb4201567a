#include "harness/evaluate/diagnose/matching.h"

#include <algorithm>
#include <cmath>

#include "kbench/error.h"
#include "kbench/mutants.h"

namespace kbench::diagnose {
namespace {

/// The values, and which of them count.
struct Observed {
  std::vector<Compared> outputs;
  bool enough = false;
};

Observed observed_of(const Look& look, double relative) {
  Observed observed;
  int64_t written = 0, all = 0;
  for (size_t i = 0; i < look.expected.size(); ++i) {
    observed.outputs.push_back(look.compared(i, relative));
    const std::vector<char>& marks = observed.outputs.back().written;
    written += std::count(marks.begin(), marks.end(), 1);
    all += static_cast<int64_t>(marks.size());
  }
  observed.enough = 2 * written >= all && written > 0;
  return observed;
}

/// Whether the written elements equal the mutant's; false also if the output is right.
bool matches(const Observed& observed, const std::vector<Tensor>& mutant) {
  bool differs = false;
  for (size_t i = 0; i < mutant.size(); ++i) {
    Compared compared = observed.outputs[i];
    Compared truth = compared;
    for (size_t e = 0; e < compared.got.size(); ++e) {
      compared.expected[e] = mutant[i].at(static_cast<int64_t>(e));
      truth.got[e] = compared.expected[e];
      if (!compared.written[e]) compared.got[e] = compared.expected[e];
      // Two NaNs count as the same fault.
      if (std::isnan(compared.got[e]) && std::isnan(compared.expected[e])) {
        compared.got[e] = compared.expected[e] = 0;
      }
    }
    const std::vector<char> off = wrong_elements(compared), wrong = wrong_elements(truth);
    if (std::find(off.begin(), off.end(), 1) != off.end()) return false;
    differs |= std::find(wrong.begin(), wrong.end(), 1) != wrong.end();
  }
  return differs;
}

}  // namespace

Matches matching_mutants(const Look& look, double relative, size_t most,
                         const TimeLimit& deadline) {
  Matches found;
  const Observed observed = observed_of(look, relative);
  if (!observed.enough) return found;
  const std::vector<Mutation> all = mutations(*look.graph);
  found.all = static_cast<int>(all.size());
  for (const Mutation& mutation : all) {
    if (found.descriptions.size() >= most || deadline.passed()) break;
    ++found.tried;
    try {
      const auto graph = mutate(*look.graph, mutation);
      const auto outputs = run_reference(*graph, look.given, {.precision = Precision::f64});
      if (matches(observed, outputs)) found.descriptions.push_back(mutation.description);
    } catch (const Error&) {
      continue;  // the reference refuses these sizes
    }
  }
  return found;
}

}  // namespace kbench::diagnose
