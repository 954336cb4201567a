// A trial's opponent: which of the ways that are asked for runs the task fastest, and that one
// ready to be timed beside the candidate.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/measure/judge/candidate_build.h"
#include "harness/measure/judge/opponent.h"
#include "harness/measure/judge/sample.h"

namespace kbench::judge {

/// Errors of each call are the opponent's: RunnerFailure, and Error for what is asked and cannot be
/// had (kUnsupported).
class TrialOpponent {
 public:
  TrialOpponent(Opponents& opponents, RunnerSupply& supply, SlabStore& store)
      : opponents_(opponents), supply_(supply), store_(store) {}

  /// Whether something other than what computes the truth is timed: PyTorch where that is asked
  /// for; else, in a task of halves, kbench's own kernels in the task's type, as the truth is
  /// computed in float32.
  static bool wanted(const EvaluateRequest& request);

  /// Starts it; does not wait.
  void prepare(const TaskAt& key, const Opponent& asked);
  /// Gives it memory. `candidate`: where that repeats calls, what it has built, whose inputs the
  /// opponent takes, too.
  void attach(const TaskMemory& task, const runner::Built* candidate, const Slab& memory);
  /// Takes the fastest of several ways by the best of a few runs, as a draw between equals decides
  /// nothing; `sampler` runs it from then on. One process takes one after another, so that only one
  /// of them holds the device's memory. `own_clock`: as Sampler::set_opponent() has it.
  void choose(Sampler& sampler, bool own_clock);

  /// Null where nothing is timed in the baseline's place.
  OpponentRunner* runner() { return runner_; }
  bool python() const { return runner_ != nullptr && runner_->python(); }
  double call_ns() const { return call_ns_; }  ///< of one call, before any is captured
  /// Why ways that were asked for cannot be timed.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  void attach(const std::string& way);
  double time(Sampler& sampler, bool own_clock, const std::string& way, int runs);
  bool works(const std::string& way, const std::function<void()>& step);

  Opponents& opponents_;
  RunnerSupply& supply_;
  SlabStore& store_;
  TaskAt key_;
  Opponent asked_;
  OpponentRunner* runner_ = nullptr;
  std::vector<std::string> ways_, left_out_;  ///< those that may be timed, one at last
  const TaskMemory* task_ = nullptr;
  const runner::Built* candidate_ = nullptr;
  const Slab* memory_ = nullptr;
  double call_ns_ = 0;
};

}  // namespace kbench::judge
