// Runs the eager baseline once, and compares it with the float64 reference, so that a driver's bug
// is not taken for the candidate's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::trial {

/// Runs the eager baseline once and reads its outputs (verify --backend vulkan). `place` is called
/// for each input and parameter; it writes the tensor to the device, or records that.
using PlaceTensor =
    std::function<void(const Graph::ValueInfo&, vulkan::Commands&, const vulkan::Region&)>;
std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph, const PlaceTensor& place);
/// The same with tensors of the host, by name.
std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph,
                              const std::map<std::string, Tensor>& tensors);

/// How the eager baseline differs from the reference on this device, in one line; empty if it is
/// right. The graph should be small, as the reference runs on the host.
std::string baseline_fault(vulkan::Device& device, const Task& task, const Graph& graph,
                           uint64_t seed);

}  // namespace kbench::trial
