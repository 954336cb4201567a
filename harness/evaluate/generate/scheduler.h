// Distributes the work of a run: chains wait for a request, answers wait for a device. Called by
// the asking threads (for each member, as many as it takes concurrent requests), the threads of the
// devices' queue and the one that writes outcomes. Does no file or network access.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/evaluate/generate/budget.h"
#include "harness/evaluate/generate/plan.h"
#include "kbench/candidate_source.h"
#include "kbench/episode.h"
#include "kbench/model.h"
#include "libkbench/base/start_thread.h"

namespace kbench::generate {

/// A chain that has begun.
struct Chain {
  uint32_t number = 0;
  Plan::Chain id = {};
  std::unique_ptr<Episode> episode;
};

/// An answer whose candidate waits for a device or is at one.
struct Waiting {
  std::unique_ptr<Chain> chain;
  Answer answer;
  Reading reading;
  CandidateSource candidate;
  bool begun = false;                    ///< it has come to a device
  std::optional<EpisodeStep> step = {};  ///< what came of it
};

class Scheduler {
 public:
  struct Options {
    size_t devices = 1;  ///< 0: candidates are not judged
    bool asking = true;  ///< false: only recorded answers are judged
    BudgetLimits limits = {};
    std::function<double()> now;  ///< a clock in seconds
  };
  Scheduler(const Plan& plan, Options options, const Spent& before);

  // Called before the threads start, in the order in which the chains are to be worked on.
  void add_open(uint32_t chain);      ///< its next attempt needs a request
  void add_answered(uint32_t chain);  ///< its next answer is recorded already
  void add_done(uint32_t chain) { touched_[chain] = true; }

  // --- Asking threads ------------------------------------------------------------------------
  /// The next chain for which to ask this member. `chain` is null if it has to be begun or read
  /// from disk. Blocks while there is no such chain, and while more than twice as many candidates
  /// as devices wait. Nothing: there is no more work for this member.
  struct Turn {
    uint32_t number = 0;
    std::unique_ptr<Chain> chain;
  };
  std::optional<Turn> next_turn(uint32_t member);
  /// Blocks until the budget grants the request; false if it never will, or the run is stopped.
  bool claim(const Budget::Claim& claim);
  Budget::Claim claim_of(size_t prompt_characters, const Sampling& sampling,
                         const std::optional<ModelPrice>& price);
  void settle(const Budget::Claim& claim, const Usage* usage,
              const std::optional<ModelPrice>& price);
  void add_spent(const Usage& usage, const std::optional<double>& cost);
  /// Returns the answer if its candidate may go to a device. One that is at hand already is kept
  /// until looked_at() returns it, so that a candidate is not judged twice at once.
  std::shared_ptr<Waiting> give_to_device(Waiting waiting);
  /// Queues the chain's next attempt.
  void go_on(std::unique_ptr<Chain> chain);
  /// Ends the work on a chain in this process.
  void leave();
  /// Stops asking the member; false where that was done before.
  bool lose(uint32_t member);

  // --- What is judged ------------------------------------------------------------------------
  /// The answer has come to a device and does not count as waiting any more.
  void begin_judging(Waiting& waiting);
  /// The candidate's result is on disk. Returns the next answer with the same candidate; null if
  /// there is none, or nothing more is to be judged.
  std::shared_ptr<Waiting> looked_at(const std::string& hash);

  // --- Stopping ------------------------------------------------------------------------------
  enum class Stop {
    none,
    budget,       ///< no more requests; answers are still judged
    interrupted,  ///< no more requests and no more judging
    disk_full,    ///< the same, because nothing more can be written
  };
  void stop(Stop how, const std::string& reason);
  Stop stopped() const;
  bool judges() const { return stopped() < Stop::interrupted; }  ///< false: no more
  std::string reason() const;

  struct Counts {
    size_t waiting = 0, under_way = 0;
    size_t most_waiting = 0;
    Spent spent;
  };
  Counts counts() const;

 private:
  bool ended() const { return stop_ >= Stop::interrupted; }
  bool may_ask() const { return asking_ && stop_ == Stop::none; }
  bool room() const { return devices_ == 0 || waiting_ < 2 * devices_; }
  std::optional<uint32_t> next_fresh(uint32_t member);
  void check_time();
  bool over() const;

  const Plan& plan_;
  size_t devices_;
  bool asking_;
  std::function<double()> now_;
  std::optional<double> deadline_;
  std::string deadline_text_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Budget budget_;
  std::vector<std::deque<std::unique_ptr<Chain>>> ready_;  ///< by member
  std::vector<std::deque<uint32_t>> open_;                 ///< by member
  std::deque<uint32_t> answered_;
  std::vector<bool> touched_;     ///< chains that have begun
  std::vector<uint32_t> cursor_;  ///< by member: chains below it have begun or are not its own
  std::vector<bool> lost_;
  size_t waiting_ = 0;  ///< answers given to a device that have not come to one
  size_t most_waiting_ = 0;
  /// By hash, the candidates at hand; with each the further answers that hold the same.
  std::map<std::string, std::deque<std::shared_ptr<Waiting>>> at_hand_;
  size_t under_way_ = 0;  ///< requests
  size_t active_ = 0;     ///< chains that a thread works on or that wait for a device
  Stop stop_ = Stop::none;
  std::string reason_;
};

/// One thread that runs jobs in the order they are posted. Jobs must not throw.
class Background {
 public:
  /// Throws kInternal if no thread can be started.
  Background() : thread_(start_thread<std::thread>([this] { work(); })) {}
  /// Runs the jobs that are left first.
  ~Background() {
    {
      const std::lock_guard hold(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Background(const Background&) = delete;

  void post(std::function<void()> job) {
    {
      const std::lock_guard hold(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock hold(mutex_);
      changed_.wait(hold, [this] { return ended_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      hold.unlock();
      job();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace kbench::generate
