// Runs a candidate's ModelNew in a process of its own, and times it by this process's clock.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/runner/program.h"
#include "harness/measure/runner/python_helper.h"
#include "harness/measure/runner/torch/call_tensors.h"
#include "harness/measure/trial/secret.h"
#include "kbench/candidate.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::runner {

/// What ModelNew's process is told of the module and the task, but for the tensors.
nlohmann::json torch_task(const TorchModule& module, const TaskAt& at);

/// The candidate's code runs from the first prepare() on, and only between two confirmed stops of
/// its process, which are timed whole but for that prepare(): the inputs of a run are drawn while
/// it stands still. Nothing that it says is believed: it says that it is done, or an error, which
/// is untrusted text. The time is this process's, from asking for forward(), once or several times,
/// to the answer, which comes when the device is idle and the outputs lie in the judge's memory;
/// less what a hand-over takes, measured before the candidate's code ran.
class TorchLane : public Lane {
 public:
  /// `python` must outlive this; its PyTorch process has been started. `task` is torch_task().
  TorchLane(PythonHelper& python, nlohmann::json task, const Graph& graph);

  /// Waits until PyTorch is there and the device open. Throws kUnsupported if they are not to be
  /// had.
  void wait_started(double seconds);
  void attach(const ImportedMemory& memory) override;
  void prepare(int calls, double seconds) override;
  bool from_outside() const override { return true; }
  bool captured() const override { return captured_; }
  double run(bool setup, double seconds) override;
  double run_empty(double seconds) override;
  std::vector<double> profile(double seconds) override;

 private:
  nlohmann::json ask(nlohmann::json request, double seconds, std::span<const int> descriptors = {});
  nlohmann::json receive(double seconds);
  double timed(const nlohmann::json& request, double seconds);

  PythonHelper& python_;
  nlohmann::json task_;
  const Graph& graph_;
  trial::SecretStream secret_{std::nullopt};
  double hand_over_ns_ = 0;
  int calls_ = 1;
  bool loaded_ = false;
  bool captured_ = false;
};

/// The most calls of one run, and what their inputs and outputs may take beside the first call's.
inline constexpr int kMostCalls = 32;
inline constexpr uint64_t kMostCallBytes = uint64_t{256} << 20;

/// Memory of all calls but the first, call by call: of the outputs, then of the inputs.
std::vector<Wanted> tensors_of_calls(const Graph& graph);

}  // namespace kbench::runner
