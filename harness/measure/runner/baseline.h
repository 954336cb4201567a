// The opponent's program: a task's eager baseline, whose output is also the truth.
#pragma once

#include <memory>
#include <set>

#include "harness/measure/runner/program.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/task.h"

namespace kbench::runner {

/// Prepares baselines on one device and remembers which have been held to the reference.
class BaselineLoader {
 public:
  explicit BaselineLoader(vulkan::Device& device) : device_(device) {}

  /// Throws kInternal saying what is wrong where the baseline differs from the float64 reference on
  /// this device, at the sizes of preset smoke; what build_graph() and the eager planner throw.
  std::unique_ptr<Program> prepare(const Prepare& request);

 private:
  vulkan::Device& device_;
  std::set<TaskId> verified_;
};

}  // namespace kbench::runner
