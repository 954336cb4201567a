// What is timed beside the candidate where that is not what computes the truth: PyTorch's program
// of the task, or, in a task of halves, kbench's own kernels. Its values are compared with the
// truth, and only reported.
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

/// One opponent's program, in a runner that is kept from task to task.
class OpponentRunner {
 public:
  /// Starts it, or has it take another task; does not wait. `mode`: not best. Throws RunnerFailure.
  void prepare(RunnerSupply& supply, const TaskAt& key, Opponent mode);
  /// Waits until it is ready, and gives it memory: the task's inputs, and the candidate's own where
  /// that is called several times. Throws Error (kUnsupported) where PyTorch, or a feature
  /// of the device, is not to be had, RunnerFailure where it cannot run the task.
  void attach(SlabStore& store, const TaskMemory& task, const runner::Built* candidate,
              const Slab& candidates_memory);

  /// Waits until it has given back what it has imported; attach() comes again.
  void release_memory();

  RunnerProcess& runner() { return build_->runner(); }
  /// Of its process, where the candidate's times are taken from outside, too; 0: not measured yet.
  double hand_over_ns = 0;
  /// Output `i` of a call.
  vulkan::Region output(int call, size_t i) const;
  /// "PyTorch 2.11.0, torch.compile"
  std::string text() const;
  Opponent mode() const { return mode_; }
  /// Whether it is PyTorch; else it is kbench's own kernels, which store the task's halves.
  bool python() const { return mode_ != Opponent::eager; }

 private:
  void wait_built();
  [[noreturn]] void fail(const runner::Refused& refused);
  std::string words_of(const runner::Refused& refused) const;

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
  /// Why this machine's PyTorch cannot compile; empty while that is not known.
  const std::string& no_compile() const { return no_compile_; }
  void note_no_compile(const std::string& why) { no_compile_ = why; }

 private:
  std::map<Opponent, OpponentRunner> runners_;
  std::vector<std::pair<TaskAt, Opponent>> faster_;
  std::string no_compile_;
};

}  // namespace kbench::judge
