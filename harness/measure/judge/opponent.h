// What is timed beside the candidate where that is not what computes the truth: PyTorch's program
// of the task, or, in a task of halves, kbench's own kernels. Its values are compared with the
// truth, and only reported.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/judge/candidate_build.h"
#include "harness/measure/judge/runner_supply.h"
#include "harness/measure/judge/slab.h"
#include "harness/measure/judge/task_memory.h"
#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench::judge {

/// Why an opponent cannot run a task: kOutOfMemory or kInternal.
ErrorCode code_of(const runner::Refused& refused);

/// One opponent's program, in a runner that is kept from task to task.
class OpponentRunner {
 public:
  explicit OpponentRunner(bool python) : python_(python) {}

  /// Starts it, or has it take another task or way; does not wait. `way`: of pytorch_ways(), empty
  /// where it is not PyTorch; `tf32` as Opponent has it. Throws RunnerFailure.
  void prepare(RunnerSupply& supply, const TaskAt& key, const std::string& way, bool tf32);
  /// Waits until it is ready, and gives it memory: the task's inputs, and the candidate's own where
  /// that is called several times. Throws Error (kUnsupported) where PyTorch, this way of it, or a
  /// feature of the device, is not to be had, RunnerFailure where it cannot run the task.
  void attach(SlabStore& store, const TaskMemory& task, const runner::Built* candidate,
              const Slab& candidates_memory);

  /// Waits until it has given back what it has imported; attach() comes again.
  void release_memory();
  /// Ends its process, after a failure: prepare() starts it anew.
  void drop();

  RunnerProcess& runner() { return build_->runner(); }
  /// Output `i` of a call.
  vulkan::Region output(int call, size_t i) const;
  /// "PyTorch 2.11.0, torch.compile"
  std::string text() const;
  /// "the opponent torch.compile"
  std::string name() const;
  /// The way that was prepared last; none after a failure.
  const std::optional<std::string>& way() const { return way_; }
  /// Whether it is PyTorch; else it is kbench's own kernels, which store the task's halves.
  bool python() const { return python_; }

 private:
  void wait_built();
  [[noreturn]] void fail(const runner::Refused& refused);
  std::string words_of(const runner::Refused& refused) const;

  bool python_;
  std::optional<std::string> way_;
  bool tf32_ = false;
  TaskAt key_;
  std::unique_ptr<CandidateBuild> build_;
  runner::Built built_;
  Slab slab_;  ///< of the outputs, call by call
  size_t outputs_ = 0;
  bool awaited_ = false;
};

/// Those of a judge: one process for all ways of PyTorch, which takes one after another, and one
/// for kbench's own kernels; and what is known of the ways for each task.
class Opponents {
 public:
  OpponentRunner& of(const Opponent& asked) { return asked.is_pytorch() ? torch_ : own_; }
  void release_memory() {
    torch_.release_memory();
    own_.release_memory();
  }
  /// After a failure: the next trial starts them anew.
  void drop() {
    torch_.drop();
    own_.drop();
  }

  /// The fastest of the ways that are asked for, and why others could not be timed.
  struct Choice {
    TaskAt key;
    Opponent asked;
    std::string way;
    std::vector<std::string> left_out;
  };
  /// Null where it is not known yet.
  const Choice* choice(const TaskAt& key, const Opponent& asked) const;
  void note(Choice choice) { choices_.push_back(std::move(choice)); }
  /// What a way that took too long for a task said: it is not tried again. Empty for all others.
  std::string too_slow(const TaskAt& key, const std::string& way) const;
  void note_too_slow(const TaskAt& key, const std::string& way, const std::string& message) {
    too_slow_.push_back({key, way, message});
  }

 private:
  struct TooSlow {
    TaskAt key;
    std::string way, message;
  };

  OpponentRunner torch_{true}, own_{false};
  std::vector<Choice> choices_;
  std::vector<TooSlow> too_slow_;
};

}  // namespace kbench::judge
