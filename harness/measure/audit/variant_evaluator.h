// Runs variants of a task on the task's inputs and compares them with its truth.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "kbench/graph.h"
#include "kbench/reference.h"
#include "kbench/task.h"

namespace kbench::audit {

/// The difference between a variant and the truth, over all outputs.
struct Deviation {
  double worst = 0;  ///< largest |c - r| / (s + |r|), s being the RMS of the output r; infinite
                     ///< where an integer differs or an element is not finite; in a task of
                     ///< halves also where the truth is not
  double rms = 0;    ///< root mean square of the same over an output's elements; the device finds
                     ///< it for halves alone
  double beyond_share = 0;  ///< share of elements over the tolerance, in the output with most

  /// Takes an output into account.
  void add(double error, double rms_error, double wrong, int64_t elements) {
    worst = std::max(worst, error);
    rms = std::max(rms, rms_error);
    beyond_share =
        std::max(beyond_share, wrong / static_cast<double>(std::max<int64_t>(elements, 1)));
  }
  /// As a multiple of what is tolerated: above 1 it fails.
  double margin(const Bounds& bounds) const {
    return std::max(worst / bounds.relative, rms / bounds.rms);
  }
};

/// One task, with inputs, parameters and truth of one seed at a time. Where the graph is of halves,
/// the tensors are rounded to them, and so is what a variant gives; the truth is not.
class VariantEvaluator {
 public:
  virtual ~VariantEvaluator() = default;
  /// Draws the task's tensors and computes the truth. To be called before deviation().
  virtual void draw(uint64_t seed) = 0;
  /// Throws kOutOfMemory if the variant needs too much memory, kUnsupported if it cannot run here.
  virtual Deviation deviation(const Graph& variant, const ReferenceOptions& options = {}) = 0;
  /// Whether it runs on the host: then ReferenceOptions have an effect, and the truth is in
  /// float64.
  virtual bool on_host() const = 0;
};

/// The CPU reference; the truth is its float64. `task` and `graph` must outlive the evaluator.
std::unique_ptr<VariantEvaluator> make_host_evaluator(const Task& task, const Graph& graph);

}  // namespace kbench::audit
