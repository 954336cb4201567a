// Several evaluators as one: what waits is given to whichever is free, a task at a time to each.
//
// A Pool is the one place that holds what waits, says what comes next, and gives a question to
// another device where one is lost. docs/architecture.md has what is tried again, and how often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kbench/error.h"
#include "kbench/evaluate.h"
#include "kbench/question.h"
#include "kbench/result.h"

namespace kbench {

/// Thread-safe. Each evaluator has a thread, which asks it one question at a time. While one
/// candidate is measured, the next ones for that device are compiled; one that compiles long while
/// others wait is left to its compiler, and asked about again after each other one. An evaluator
/// that is in trouble() for good is left out, and its candidate is tried once more on another. If
/// none is left, all other questions end as harness_error.
class Pool : public Evaluator {
 public:
  /// The end of a question: a result, an error, or neither, where it was cancelled.
  struct Outcome {
    std::optional<Result> result = {};
    std::optional<Error> error = {};  ///< as evaluate() throws it
    bool cancelled() const { return !result && !error; }
  };

  struct Job {
    Question question = {};
    std::string group = {};             ///< jobs of one task at one size should share a group
    std::optional<size_t> member = {};  ///< index into the evaluators; nothing: any
    /// Also on a CPU device it is left to its compiler, where that takes long, while jobs of other
    /// authors wait. Not where its times matter more than theirs: there a compiler disturbs what is
    /// measured. (On a GPU what compiles long is left while any other job waits.)
    bool yields = false;
    Observer observer = {};  ///< told by the evaluator's thread
    /// Called once, by any thread, also inside add() and cancel(), and concurrently with other
    /// jobs'. Must not throw.
    std::function<void(Outcome)> on_outcome = {};
    /// In place of one evaluation several that belong together: the evaluator's thread calls it.
    /// May throw Error, and Cancelled. What it returns or throws counts as an evaluation's outcome
    /// does: if the device is found to be lost, it is called once more, with another evaluator.
    std::function<Result(Evaluator& evaluator, const Turn& turn)> work = {};
  };

  /// Throws kInternal if a thread cannot be started.
  explicit Pool(std::vector<std::unique_ptr<Evaluator>> evaluators);
  /// Cancels all jobs that are left.
  ~Pool() override;

  /// Waits until an evaluator is free. Also when called from several threads.
  using Evaluator::evaluate;
  Result evaluate(const Question& question, const Observer& observer,
                  std::stop_token stop) override;
  /// The devices of all evaluators that are left.
  std::vector<DeviceSummary> devices() override;
  std::string trouble() override;  ///< once none is left
  uint64_t restarts() const override;

  // Without waiting: for those that have many questions.

  uint64_t add(Job job);
  /// Adds several at once, so that the first already know which ones follow. Ids are in the same
  /// order.
  std::vector<uint64_t> add_all(std::vector<Job> jobs);
  /// Cancels a job: at once if it waits, soon if it runs. False if its outcome was delivered; an
  /// outcome that is on its way may still be delivered.
  bool cancel(uint64_t id);
  /// Cancels the jobs that wait; those that run go on.
  void cancel_waiting();
  /// Nothing is to be expected after the jobs that wait, so that no runner is started in advance.
  void close();
  /// Blocks until every job has had its outcome.
  void wait();

  /// Jobs that have no outcome yet: all, and those that wait for an evaluator.
  struct Load {
    size_t jobs = 0, waiting = 0;
  };
  Load load();
  size_t members_left();
  /// Why an evaluator was left out; empty if it was not.
  std::string trouble_of(size_t member);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace kbench
