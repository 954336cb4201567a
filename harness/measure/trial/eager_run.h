// Runs the eager baseline once, and compares it with the float64 reference, so that a driver's bug
// is not taken for the candidate's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/measure/trial/graph_memory.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::trial {

/// Writes an input or parameter to the device, or records that.
using PlaceTensor =
    std::function<void(const Graph::ValueInfo&, vulkan::Commands&, const vulkan::Region&)>;
/// Uploads the graph's constants and calls `place` for its inputs and parameters.
void place_tensors(vulkan::Device& device, vulkan::Commands& commands, const Graph& graph,
                   const GraphMemory& memory, const PlaceTensor& place);
/// Runs the eager baseline once on these tensors and reads its outputs (verify --backend vulkan).
std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph, const PlaceTensor& place);
/// The same with tensors of the host, by name.
std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph,
                              const std::map<std::string, Tensor>& tensors);

/// How the eager baseline differs from the reference on this device, in one line; empty if it is
/// right. The graph should be small, as the reference runs on the host.
std::string baseline_fault(vulkan::Device& device, const Task& task, const Graph& graph,
                           uint64_t seed);

}  // namespace kbench::trial
