// Runs variants of a task by the eager baseline's kernels, which also compute the truth, as in a
// trial.
#pragma once

#include <memory>

#include "harness/measure/audit/audit.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::dev {

/// `task` and `graph` must outlive the evaluator.
std::unique_ptr<audit::VariantEvaluator> make_device_evaluator(vulkan::Device& device,
                                                               const Task& task,
                                                               const Graph& graph);

}  // namespace kbench::dev
