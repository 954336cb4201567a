// Times the eager baseline alone: passes over the whole graph with cold caches, as in a sample.
#pragma once

#include <span>

#include "harness/measure/trial/clock_watch.h"
#include "harness/measure/trial/eager_run.h"
#include "harness/measure/trial/kernels.h"
#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/baseline.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::trial {

/// The number of passes.
struct PassPlan {
  int warm_up = 2;  ///< at least; more while the device's clock is rising
  int least = 3;    ///< taken even beyond max_seconds
  int most = 10;
  double max_seconds = 1;  ///< of device time
};

/// Pipelines, flush buffer and command list are shared by all graphs.
class BaselineTimer {
 public:
  explicit BaselineTimer(vulkan::Device& device);

  /// Makes the pipelines of several graphs, each in its own dtype, in parallel. A graph that cannot
  /// be planned is left out; time() throws its error.
  void prepare(std::span<const Graph* const> graphs);
  /// Draws inputs and parameters, and times passes. Throws kOutOfMemory, with the bytes needed and
  /// available, before it allocates anything; kUnsupported if a limit forbids the size; kTimeout;
  /// kDeviceLost. `launches` receives the number of kernels of a pass.
  PassTimes time(const Task& task, const Graph& graph, const PassPlan& plan, int& launches);

 private:
  void draw(const Task& task, const Graph& graph, const GraphMemory& memory);

  vulkan::Device& device_;
  Kernels kernels_;
  SecretStream secret_;
  vulkan::Buffer flush_;
  ClockWatch clock_;
  vulkan::Commands commands_;
};

/// The best rate of a float32 copy over several sizes far above the caches, and that of float32
/// fused multiply-adds in registers. Takes under a second on a GPU. Throws what the device's
/// functions throw.
Roofline measure_roofline(vulkan::Device& device);

}  // namespace kbench::trial
