// A candidate on its way to a trial: its files brought, its task known, its kernels being compiled.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "harness/evaluate/client/protocol.h"
#include "harness/measure/judge/cuda_history.h"
#include "harness/measure/judge/runner_process.h"
#include "harness/measure/judge/task_memory.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/error.h"
#include "kbench/graph.h"
#include "kbench/result.h"

namespace kbench::judge {

/// A request with a runner of its own. begin() ends while the runner compiles, so that the judge
/// can do something else meanwhile; built() waits for it. Nothing of the candidate is executed
/// here.
class CandidateBuild {
 public:
  CandidateBuild(std::unique_ptr<RunnerProcess> runner, const client::EvaluateRequest& request,
                 const vulkan::DeviceSnapshot& snapshot, CudaHistory& history);

  /// Loads the candidate, works out sizes, and has it compiled; just before that, `before_build` is
  /// called if given. What goes wrong is told by built().
  void begin(const std::function<void()>& before_build = {});
  /// Whether this is what a request asks for.
  bool answers(const client::EvaluateRequest& request) const;
  /// Whether its runner can build it once more.
  bool can_be_built_again() const { return loaded_ && !needs_python_; }
  /// Its runner is to build the candidate, which has run, at the sizes of this request; begin()
  /// again. As the candidate may have got hold of its runner, only what it gets right counts.
  void ask_again(const client::EvaluateRequest& request);

  /// Waits for the first part alone. False when the candidate is refused, as `refused` says. Throws
  /// RunnerFailure, and Error for what is wrong with the request's options.
  bool loaded(runner::Refused& refused, const std::function<void()>& before_build = {});
  /// Waits for the runner; the same.
  bool built(runner::Built& built, runner::Refused& refused);

  /// Has the runner import a task memory's memory, unless that is what it was told last; it does so
  /// while it compiles, and answers nothing. How many slabs it knows then.
  int attach(const TaskMemory& task_memory);
  bool attached_to(const TaskMemory& task_memory) const {
    return attached_ == task_memory.serial();
  }

  /// It was begun, and nothing is known against it yet: the key and the graph are there.
  bool well() const { return graph_ && !refused_ && !failure_ && !error_; }

  RunnerProcess& runner() { return *runner_; }
  std::unique_ptr<RunnerProcess> release() { return std::move(runner_); }
  /// The candidate in memory, of all files that were read of it. Once loaded.
  CandidateSource read_source() const;
  const client::EvaluateRequest& request() const { return request_; }
  /// Once loaded.
  const Experiment& experiment() const { return experiment_; }
  const TaskAt& key() const { return key_; }
  const Graph& graph() const { return *graph_; }

 private:
  bool load();
  std::optional<runner::Loaded> load_in_runner();
  void identify();

  std::unique_ptr<RunnerProcess> runner_;
  client::EvaluateRequest request_;
  const vulkan::DeviceSnapshot& snapshot_;
  CudaHistory& history_;
  Experiment experiment_;
  TaskAt key_;
  std::unique_ptr<Graph> graph_;
  bool begun_ = false;
  bool loaded_ = false, needs_python_ = false;  ///< its runner has parsed it, and what that needs
  uint64_t attached_ = 0;                       ///< the task memory it was told of; 0 is none
  int slabs_ = 0;                               ///< that task memory's
  std::optional<runner::Refused> refused_;
  std::optional<RunnerFailure> failure_;
  std::optional<Error> error_;
  std::map<std::string, std::string> files_;  ///< as they were read, by path
  std::string manifest_;                      ///< which of them is the candidate's YAML
};

}  // namespace kbench::judge
