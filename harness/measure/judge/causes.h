// Possible causes of wrong values, from a candidate's modules and its task.
#pragma once

#include <string_view>

#include "harness/measure/judge/checks.h"
#include "harness/measure/runner/protocol.h"
#include "kbench/graph.h"

namespace kbench::judge {

/// A finding of wrong values with what may have caused it. Values that are off by little everywhere
/// say low_precision only where the task's check is certified to tell float16 from float32
/// (`certificate`, as Experiment has it; kUntried: not known); elsewhere the module's own types do.
Finding with_causes(Finding finding, const runner::Built& built, const Graph& graph,
                    std::string_view certificate);

}  // namespace kbench::judge
