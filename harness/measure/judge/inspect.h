// Runs a candidate on inputs drawn from seeds of the client's, which can draw them too, and
// returns its outputs. Not used for verdicts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/measure/judge/checks.h"
#include "harness/measure/judge/sample.h"
#include "harness/measure/judge_protocol/findings.h"
#include "harness/measure/judge_protocol/protocol.h"

namespace kbench::judge {

/// Draws inputs and parameters as kbench::draw_tensors() does for the task and their seeds.
void draw_known(const SampleParts& parts, Sampler& sampler, const InspectedDraws& draws);

/// The outputs of one run of a candidate, on the host, by output index.
struct ReceivedRun {
  std::vector<Tensor> before;  ///< what stood there before a first run; empty for later ones
  std::vector<Tensor> after;
  std::optional<Finding> finding;  ///< what it did outside of its outputs
};

/// Runs the candidate over such contents of its outputs and temporaries; plausible integers are of
/// a range so large that a result equals them by chance only. The first run with these `checks`
/// hashes what must not change; they have their redzones recorded.
ReceivedRun run_and_receive(const SampleParts& parts, Sampler& sampler, Checks& checks,
                            trial::Contents contents, bool first, double seconds);

/// Runs the candidate four times, on inputs and over values in its outputs and temporaries as
/// Inspection has them, and receives what it wrote. draw_known() has drawn the others. The
/// finding is what the candidate did outside of its outputs, if anything. Throws kInvalidArgument
/// where the outputs have more than kMostInspected elements, and what a sample throws. `checks` has
/// its redzones recorded.
std::optional<Finding> inspect(const SampleParts& parts, Sampler& sampler, Checks& checks,
                               uint64_t other_inputs, double seconds, Inspection& inspection);

// Compares a candidate's outputs with the CPU's reference: for small sizes, without a baseline.

/// Runs the candidate once, over such contents of its outputs and temporaries, on inputs and
/// parameters that draw_known() has drawn. `right`: the outputs for these, in float64. The finding
/// is what it did outside of its outputs, or what is wrong in them. Throws what a sample throws.
/// `checks` is new, with its redzones recorded.
std::optional<Finding> check_values(const SampleParts& parts, Sampler& sampler, Checks& checks,
                                    const CheckRule& rule, const std::vector<Tensor>& right,
                                    trial::Contents contents, double seconds);

}  // namespace kbench::judge
