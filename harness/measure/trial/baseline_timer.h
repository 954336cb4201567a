// The eager baseline timed alone: whole-graph passes with cold caches, as each half of a paired
// sample is timed.
#pragma once

#include <cstdint>
#include <span>

#include "harness/measure/trial/clock_watch.h"
#include "harness/measure/trial/kernels.h"
#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/baseline.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::trial {

/// How many passes are taken.
struct PassPlan {
  int warm_up = 2;  ///< at least; more while the device's clock is rising
  int least = 3;    ///< taken even beyond max_seconds
  int most = 10;
  double max_seconds = 1;  ///< of device time
};

/// What serves all graphs (pipelines, the flush buffer, the command list) is made once.
class BaselineTimer {
 public:
  explicit BaselineTimer(vulkan::Device& device);

  /// Makes the pipelines of several graphs, many at a time. A graph that cannot be planned is left
  /// out, and fails again, with its error, in time().
  void prepare(std::span<const Graph* const> graphs);
  /// Draws inputs and parameters, and times passes. Throws kOutOfMemory saying what the task needs
  /// and what there is before anything is allocated, kUnsupported where a limit forbids the size,
  /// kTimeout, kDeviceLost. `launches` receives the number of kernels a pass launches.
  PassTimes time(const Task& task, const Graph& graph, const PassPlan& plan, int& launches);

 private:
  vulkan::Device& device_;
  Kernels kernels_;
  SecretStream secret_;
  vulkan::Buffer flush_;
  ClockWatch clock_;
  vulkan::Commands commands_;
};

}  // namespace kbench::trial
