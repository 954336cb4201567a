// PyTorch in the baseline's place: its program of a task, timed beside the candidate. The truth
// stays the eager baseline's; what PyTorch computes is compared with it, and only reported.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/judge/candidate_build.h"
#include "harness/measure/judge/runner_supply.h"
#include "harness/measure/judge/slab.h"
#include "harness/measure/judge/task_memory.h"
#include "kbench/evaluate.h"
#include "kbench/task.h"

namespace kbench::judge {

/// Why an opponent cannot run a task: kOutOfMemory or kInternal.
ErrorCode code_of(const runner::Refused& refused);

/// One program of PyTorch's, in a runner of kind torch that is kept from task to task.
class OpponentRunner {
 public:
  /// Starts it, or has it take another task; does not wait. `mode`: torch or torch_compile. Throws
  /// RunnerFailure.
  void prepare(RunnerSupply& supply, const TaskAt& key, Opponent mode);
  /// Waits until it is ready, and gives it memory: the task's inputs, and the candidate's own where
  /// that is called several times. Throws Error (kUnsupported) where PyTorch is not to be had,
  /// RunnerFailure where it cannot run the task.
  void attach(SlabStore& store, const TaskMemory& task, const runner::Built* candidate,
              const Slab& candidates_memory);

  /// Waits until it has given back what it has imported; attach() comes again.
  void release_memory();

  RunnerProcess& runner() { return build_->runner(); }
  double hand_over_ns = 0;  ///< where the candidate's times are taken from outside, too
  /// Output `i` of a call.
  vulkan::Region output(int call, size_t i) const;
  /// "PyTorch 2.11.0, torch.compile"
  std::string text() const;
  Opponent mode() const { return mode_; }
  /// PyTorch, else kbench's own kernels, in a task whose truth others compute: that of halves.
  bool python() const { return mode_ != Opponent::eager; }

 private:
  void wait_built();
  [[noreturn]] void fail(const runner::Refused& refused);

  Opponent mode_ = Opponent::torch;
  TaskAt key_;
  std::unique_ptr<CandidateBuild> build_;
  runner::Built built_;
  Slab slab_;  ///< of the outputs, call by call
  size_t outputs_ = 0;
  bool awaited_ = false;
};

/// Those of a judge, and which is the faster of two for each task.
class Opponents {
 public:
  OpponentRunner& of(Opponent mode) { return runners_[mode]; }
  void release_memory() {
    for (auto& [mode, runner] : runners_) runner.release_memory();
  }
  /// After a failure: the next trial starts them anew.
  void drop() { runners_.clear(); }
  /// Of Opponent::best for this task, if that is known.
  std::optional<Opponent> faster(const TaskAt& key) const;
  void note_faster(const TaskAt& key, Opponent mode) { faster_.emplace_back(key, mode); }

 private:
  std::map<Opponent, OpponentRunner> runners_;
  std::vector<std::pair<TaskAt, Opponent>> faster_;
};

}  // namespace kbench::judge
