// The baseline held to the float64 reference, so that a driver's bug is not blamed on a candidate.
#pragma once

#include <cstdint>
#include <string>

#include "harness/vulkan/device.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::trial {

/// What the eager baseline gets wrong on this device at the graph's sizes, as one line; empty when
/// it is right. The graph should be small: the reference runs on the host.
std::string baseline_fault(vulkan::Device& device, const Task& task, const Graph& graph,
                           uint64_t seed);

}  // namespace kbench::trial
