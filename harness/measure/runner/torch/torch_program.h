// A candidate whose task a ModelNew computes, in PyTorch.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/measure/runner/program.h"
#include "harness/measure/runner/torch/torch_host.h"
#include "harness/measure/runner/torch/torch_lane.h"
#include "kbench/candidate.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::runner {

class TorchProgram : public Program {
 public:
  /// Compiles the module's C++ and CUDA extensions in a process without any device, and waits for
  /// PyTorch's. Throws Refused for what does not compile, kUnsupported where there is no PyTorch,
  /// kTimeout. `host` must outlive this.
  TorchProgram(TorchHost& host, std::unique_ptr<Graph> graph, const TorchModule& module,
               const Build& request);

  Built built() const override;
  const Graph& graph() const override { return *graph_; }
  /// The command list holds nothing: the lane does the work.
  void record(vulkan::Commands&, const Pass&, const ImportedMemory&,
              const AfterStep&) const override {}
  Lane* lane() override { return &lane_; }

 private:
  TorchHost& host_;
  std::unique_ptr<Graph> graph_;
  TorchLane lane_;
  double compile_s_ = 0;
};

}  // namespace kbench::runner
