// A candidate whose task a ModelNew computes, in PyTorch.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/measure/runner/program.h"
#include "harness/measure/runner/python_helper.h"
#include "harness/measure/runner/torch/torch_lane.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/candidate.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::runner {

class TorchProgram : public Program {
 public:
  /// Starts PyTorch's process, and compiles the module's C++ and CUDA extensions in another one,
  /// without a device. Throws Refused for what does not compile, kUnsupported where there is no
  /// PyTorch, kTimeout.
  TorchProgram(vulkan::Device& device, std::unique_ptr<Graph> graph, const TorchModule& module,
               const Build& request, PythonHelper& python);

  Built built() const override;
  const Graph& graph() const override { return *graph_; }
  /// The command list holds nothing: the lane does the work.
  void record(vulkan::Commands&, const Pass&, const ImportedMemory&,
              const AfterStep&) const override {}
  Lane* lane() override { return &lane_; }

 private:
  std::unique_ptr<Graph> graph_;
  TorchLane lane_;
  double compile_s_ = 0;
};

}  // namespace kbench::runner
