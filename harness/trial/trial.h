// The paired trial: one candidate against the eager baseline on one device, every timed sample
// verified. docs/measurement.md explains each step and the attack it answers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/vulkan/buffer.h"
#include "harness/vulkan/commands.h"
#include "harness/vulkan/device.h"
#include "kbench/candidate.h"
#include "kbench/evaluate.h"
#include "kbench/graph.h"
#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench::trial {

/// Device bytes a trial of this task needs before a candidate's own temporaries: inputs,
/// parameters, constants, two sets of outputs, the baseline's arena, guards and flush buffer.
uint64_t required_bytes(const Graph& graph, const vulkan::DeviceSnapshot& snapshot);

/// Runs the trial and fills in the result's measured part: verdict, message, diagnostics, samples,
/// speedup, times. What goes wrong with the candidate becomes a verdict; kDeviceLost, kTimeout and
/// failures of the harness itself are thrown.
void run_trial(vulkan::Device& device, const Task& task, const Graph& graph,
               const ResolvedCandidate& candidate, const EvaluateOptions& options, Result& result);

/// Compiles a candidate's kernels for the device without running them: what `kbench check` does.
/// Returns passed, compile_error, unsupported or invalid_candidate with message and diagnostics.
Verdict check_candidate(vulkan::Device& device, const Graph& graph,
                        const ResolvedCandidate& candidate, Result& result);

/// Runs the eager baseline once on tensors that `place` writes to the device or records the writing
/// of, each input and parameter in turn, and reads the outputs back (verify --backend vulkan).
using PlaceTensor =
    std::function<void(const Graph::ValueInfo&, vulkan::Commands&, const vulkan::Region&)>;
std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph, const PlaceTensor& place);
/// The same on tensors of the host.
std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph,
                              const std::map<std::string, Tensor>& tensors);

}  // namespace kbench::trial
