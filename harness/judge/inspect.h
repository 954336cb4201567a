// A closer look at a candidate, on inputs that whoever asks can draw too. No verdict comes of it.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/client/findings.h"
#include "harness/judge/checks.h"
#include "harness/judge/sample.h"

namespace kbench::judge {

/// Draws inputs and parameters as kbench::draw_tensors() does for the task and that seed.
void draw_known(const SampleParts& parts, vulkan::Commands& commands, uint64_t seed);

/// Runs the candidate three times, over values in its outputs and temporaries as client::Inspection
/// has them, and receives what it wrote. The finding is what it did outside of its outputs, if
/// anything. Throws kInvalidArgument where the outputs have more than client::kMostInspected
/// elements, and what a sample throws. `checks` has its redzones recorded.
std::optional<Finding> inspect(const SampleParts& parts, Sampler& sampler, Checks& checks,
                               double seconds, client::Inspection& inspection);

}  // namespace kbench::judge
