// Compares a candidate's outputs with the CPU's reference: for small sizes, without a baseline.
#pragma once

#include <optional>
#include <vector>

#include "harness/measure/judge/checks.h"
#include "harness/measure/judge/sample.h"

namespace kbench::judge {

/// Runs the candidate once, over such contents of its outputs and temporaries, on inputs and
/// parameters that draw_known() has drawn. `right`: the outputs for these, in float64. The finding
/// is what it did outside of its outputs, or what is wrong in them. Throws what a sample throws.
/// `checks` is new, with its redzones recorded.
std::optional<Finding> check_values(const SampleParts& parts, Sampler& sampler, Checks& checks,
                                    const CheckRule& rule, const std::vector<Tensor>& right,
                                    trial::Contents contents, double seconds);

}  // namespace kbench::judge
