// The eager baseline of a task as a program. Its outputs are also the truth.
#pragma once

#include <memory>
#include <set>

#include "harness/measure/runner/program.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/task.h"

namespace kbench::runner {

/// Prepares baselines on one device and remembers which have been compared with the reference.
class BaselineLoader {
 public:
  explicit BaselineLoader(vulkan::Device& device) : device_(device) {}

  /// Throws kInternal, with the difference, if the baseline differs from the float64 reference on
  /// this device at the sizes of preset smoke, and what build_graph() and the eager planner throw.
  std::unique_ptr<Program> prepare(const Prepare& request);

 private:
  vulkan::Device& device_;
  std::set<TaskId> verified_;
};

}  // namespace kbench::runner
