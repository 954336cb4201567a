// Runs a candidate's ModelNew in a process of its own, and times it by this process's clock.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/runner/program.h"
#include "harness/measure/runner/torch/call_tensors.h"
#include "harness/measure/runner/torch/peer_tensors.h"
#include "harness/measure/runner/torch/torch_host.h"
#include "kbench/candidate.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::runner {

/// What ModelNew's process is told of the module and the task, but for the tensors.
nlohmann::json torch_task(const TorchModule& module, const TaskAt& at);

/// The same with its parameters, and inputs and outputs of one call, but for their places.
nlohmann::json torch_tensors(nlohmann::json task, const Graph& graph);

/// The candidate's code runs from the first prepare() on, and only between two confirmed stops of
/// its process, which are timed whole but for that prepare(): the inputs of a run are given while
/// it stands still, and the outputs taken. Nothing that it says is believed: it says that it is
/// done and where its outputs are, or an error, which is untrusted text. The time is the helper's,
/// from asking for forward(), once or several times, to the answer and to the process's standstill;
/// where the device is not idle then it goes on until it is, so that what the candidate leaves
/// behind counts. run_empty() is the same without forward(), for before the candidate's code has
/// run: what a hand-over takes.
class TorchLane : public Lane {
 public:
  /// `host` must outlive this, and has started. `task` is torch_task().
  TorchLane(TorchHost& host, nlohmann::json task, const Graph& graph);

  /// Builds an extension that its process asks for, by PyTorch's arguments of the build, and
  /// returns what is to be said of it. Throws Refused, Error.
  using BuildExtension = std::function<std::vector<Diagnostic>(const nlohmann::json& arguments)>;
  void set_builder(BuildExtension build);

  /// Has the module made, with zeros for the task's weights. Throws Refused.
  void check(double seconds);
  void attach(const ImportedMemory& memory) override;
  void release() override { peers_.reset(); }
  void prepare(const Run& run) override;
  bool from_outside() const override { return true; }
  void describe(Ran& ran) const override;
  double run(bool setup, double seconds) override;
  double run_empty(double seconds) override;
  Profiled profile(const Profile& request) override;

 private:
  double wait_idle();
  TorchChannel::Reply ask(nlohmann::json question, double seconds);

  TorchHost& host_;
  TorchChannel channel_;
  nlohmann::json task_;
  const Graph& graph_;
  std::unique_ptr<PeerTensors> peers_;  ///< on a GPU
  Run asked_;
  bool loaded_ = false;
  bool captured_ = false;
  double own_ns_ = 0;                 ///< of the last run, by its process's word
  std::vector<Diagnostic> notes_;     ///< on extensions that were built since
  double build_s_ = 0;                ///< what that took
  std::optional<Refused> not_built_;  ///< why the last one was not
  bool looked_idle_ = false;          ///< whether others have work on the device is known
  bool others_busy_ = false;  ///< before the candidate's code ran: wait_idle() is of no use then
};

/// The most calls of one run, and what their inputs and outputs may take beside the first call's.
inline constexpr int kMostCalls = 1024;
inline constexpr int kMostCallsOfSoftware = 3;  ///< each takes as long there as all of a GPU's
inline constexpr uint64_t kMostCallBytes = uint64_t{2} << 30;

/// Memory of all calls but the first, at most `most` calls and `most_bytes` in all, call by call:
/// of the outputs, then of the inputs.
std::vector<Wanted> tensors_of_calls(const Graph& graph, int most, uint64_t most_bytes);

/// The most kernels that a module's profile tells apart, the slowest ones.
inline constexpr size_t kMostProfiledKernels = 64;

/// Whether a kernel that a PyTorch process ran comes with PyTorch or its libraries, by the name
/// that PyTorch's profiler shows: of ATen, cuBLAS, cuDNN, CUTLASS, CUB, cuFFT, attention kernels,
/// copies, and what torch.compile makes; on a CPU of ATen's operators. A kernel that the module
/// compiles can take such a name.
bool is_library_kernel(std::string_view name);

/// The name without return type, template arguments and parameters:
/// "at::native::vectorized_elementwise_kernel".
std::string short_kernel_name(std::string_view name);

/// A candidate whose task a ModelNew computes, in PyTorch.
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
  std::vector<Diagnostic> notes_;  ///< on its extensions
  double compile_s_ = 0;
};

}  // namespace kbench::runner
