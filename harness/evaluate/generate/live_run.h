// A run that is being executed: the threads that ask models, and the pool in which candidates are
// judged. Implemented in run.cc, run_asking.cc and run_judging.cc.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/evaluate/generate/run.h"
#include "harness/evaluate/generate/scheduler.h"
#include "kbench/error.h"
#include "kbench/exchange.h"
#include "kbench/pool.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::generate {

class Run {
 public:
  Run(const RunFolder& folder, RunOptions options);

  RunOutcome run();

 private:
  // The work of the threads.
  void ask_for(uint32_t member);
  void take_turn(uint32_t member, Scheduler::Turn turn);
  void ask(uint32_t member, std::unique_ptr<Chain> chain);
  /// The exchange about a chain's next attempt, without the answer.
  Exchange asked_about(const Chain& chain) const;
  /// Records that a request failed; nothing is written if the run was cancelled.
  void lose_request(uint32_t member, const Chain& chain, const ModelError& error);
  /// Adds the answer's step to the queue: its evaluations and its investigation, on one device.
  void queue_step(std::shared_ptr<Waiting> waiting);
  class StepJudge;
  /// Takes the step in the device's thread, unless it was taken already. Throws Cancelled where
  /// nothing more is to be judged.
  Result step_on(Evaluator& device, Waiting& waiting, const Turn& turn);
  /// The result of a candidate by its hash, where it was judged already.
  std::optional<Result> known(const std::string& hash, const Question& question);
  void take_outcome(const std::shared_ptr<Waiting>& waiting, const Pool::Outcome& outcome);
  void guarded(const std::function<void()>& work);
  /// Measures winners again that were chosen among several measurements and were not yet.
  void confirm_winners();

  std::unique_ptr<Chain> begin(uint32_t number);
  /// Replays a chain's attempts from the files; returns its next answer if that is recorded.
  std::optional<Exchange> take_up(Chain& chain);
  void take_in(std::unique_ptr<Chain> chain, const Exchange& exchange);
  /// Writes the outcome of an answer, and queues the chain's next attempt.
  void finish(std::unique_ptr<Chain> chain, const Answer& answer, const Reading& reading,
              EpisodeStep step);
  Attempt described(const Chain& chain, const Answer& answer, const Reading& reading,
                    Attempt attempt) const;
  void keep_result(const Attempt& attempt, Result result);
  /// A result that says whose it is: model, task, and the candidate in the model's folder.
  Result labelled(const Attempt& attempt, Result result) const;
  /// What ends all requests to a model is said by lose_member(), once, and not of each chain.
  void lose_chain(const Chain& chain, const ModelError& why);
  /// Runs `work`, which reads or writes files of one chain. If it fails, the chain goes no further
  /// in this process and the run continues. Returns whether it succeeded.
  bool with_files(const Chain& chain, const std::function<void()>& work);
  /// The same for files of the whole run: a full disk stops the run, any other failure is thrown.
  bool with_run_files(const Chain& chain, const std::function<void()>& work);
  /// Counts the chain as lost and warns; a full disk also stops the run.
  void lose_files(const Chain& chain, const Error& why);
  void lose_member(uint32_t member, const std::string& why);
  void count(const Attempt& attempt, bool done, bool lost);
  Status status() const;
  const std::string& model(const Chain& chain) const { return plan_.members()[chain.id.member]; }
  const Task& task(const Chain& chain) const { return *plan_.tasks()[chain.id.task]; }
  std::string place(const Chain& chain, int attempt) const {
    return run_attempt_folder(model(chain), task(chain).id, chain.id.sample, attempt);
  }

  RunOptions options_;
  const Plan& plan_;
  Store store_;
  Ledger ledger_;
  std::function<double()> now_;
  Scheduler scheduler_;
  double start_ = 0;

  mutable std::mutex mutex_;  ///< guards the members below
  Status counts_;
  std::vector<int> unanswered_;  ///< consecutive failed requests, by member
  std::exception_ptr failure_;
  std::stop_source cancel_;
  std::mutex report_;
  std::unique_ptr<Background> behind_;  ///< exists while the threads run
  std::unique_ptr<Pool> pool_;          ///< of the devices; exists while the threads run
  std::mutex ledger_mutex_;
};

}  // namespace kbench::generate
