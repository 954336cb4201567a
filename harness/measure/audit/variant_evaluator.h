// Where variants of a task are run: each on the task's own inputs, held to the task's truth.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/measure/vulkan/device.h"
#include "kbench/graph.h"
#include "kbench/reference.h"
#include "kbench/task.h"

namespace kbench::audit {

/// How far a variant is from the truth, over all outputs.
struct Deviation {
  double worst = 0;  ///< largest |c - r| / (s + |r|), s being the RMS of the output r; infinite
                     ///< where an integer differs or an element is not finite
  double beyond_share = 0;  ///< share of elements over the tolerance, in the output with most
};

/// One task's inputs, parameters and truth, for one seed after another.
class VariantEvaluator {
 public:
  virtual ~VariantEvaluator() = default;
  /// Draws the task's tensors and computes the truth. Before the first deviation().
  virtual void draw(uint64_t seed) = 0;
  /// Throws kOutOfMemory where the variant needs more than there is, kUnsupported where it does not
  /// run here.
  virtual Deviation deviation(const Graph& variant, const ReferenceOptions& options = {}) = 0;
  /// Whether ReferenceOptions mean something: the truth is in float64 then, and variants can be
  /// too.
  virtual bool on_host() const = 0;
};

/// The CPU reference; the truth is its float64. `task` and `graph` must outlive the evaluator.
std::unique_ptr<VariantEvaluator> make_host_evaluator(const Task& task, const Graph& graph);
/// The eager baseline's kernels; the truth is what they compute of the task, as in a trial.
std::unique_ptr<VariantEvaluator> make_device_evaluator(vulkan::Device& device, const Task& task,
                                                        const Graph& graph);

}  // namespace kbench::audit
