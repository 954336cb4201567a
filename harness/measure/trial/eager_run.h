// The eager baseline run once on given tensors, and held to the float64 reference, so that a
// driver's bug is not blamed on a candidate.
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

/// Runs the eager baseline once on tensors that `place` writes to the device or records the writing
/// of, each input and parameter in turn, and reads the outputs back (verify --backend vulkan).
using PlaceTensor =
    std::function<void(const Graph::ValueInfo&, vulkan::Commands&, const vulkan::Region&)>;
std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph, const PlaceTensor& place);
/// The same on tensors of the host.
std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph,
                              const std::map<std::string, Tensor>& tensors);

/// What the eager baseline gets wrong on this device at the graph's sizes, as one line; empty when
/// it is right. The graph should be small: the reference runs on the host.
std::string baseline_fault(vulkan::Device& device, const Task& task, const Graph& graph,
                           uint64_t seed);

}  // namespace kbench::trial
