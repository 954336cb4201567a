// Compares a candidate's outputs with the CPU's reference: for small sizes, without a baseline.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/measure/judge/checks.h"
#include "harness/measure/judge/sample.h"

namespace kbench::judge {

/// Runs the candidate once, on inputs and parameters that draw_known() has drawn with that seed.
/// The finding is what it did outside of its outputs, or what is wrong in them. Throws what a
/// sample throws. `checks` has its redzones recorded.
std::optional<Finding> check_values(const SampleParts& parts, Sampler& sampler, Checks& checks,
                                    const CheckRule& rule, uint64_t seed, double seconds);

}  // namespace kbench::judge
