// Who does what next: chains wait to be asked about, answers wait for a device. Threads of askers
// (a member's, as many as it takes requests at once) and one thread a device meet here. No file and
// no network in sight.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/evaluate/generate/budget.h"
#include "harness/evaluate/generate/plan.h"
#include "kbench/episode.h"
#include "kbench/model.h"

namespace kbench::generate {

/// A chain at work.
struct Chain {
  uint32_t number = 0;
  Plan::Chain id = {};
  std::unique_ptr<Episode> episode;
};

/// An answer that a device has to look at.
struct Waiting {
  std::unique_ptr<Chain> chain;
  Answer answer;
  Reading reading;
  std::string file;  ///< the candidate's on disk
};

class Scheduler {
 public:
  struct Options {
    size_t devices = 1;  ///< 0: nothing is judged
    bool asking = true;  ///< false: only what is answered is judged
    BudgetLimits limits = {};
    std::function<double()> now;  ///< seconds from any fixed instant
  };
  Scheduler(const Plan& plan, Options options, const Spent& before);

  // Before the threads start. In the order in which they are to be done.
  void add_open(uint32_t chain, uint32_t member);  ///< to be asked about
  void add_answered(uint32_t chain);               ///< its next answer is there already
  void add_done(uint32_t chain) { touched_[chain] = true; }

  // --- askers --------------------------------------------------------------------------------
  /// A chain of which this member is to be asked next (`chain` is null where it is to be begun or
  /// read from disk: then `answered` says whether only a device is missing). Blocks while there is
  /// none, and while more than twice as many candidates as devices wait. Nothing: the member's work
  /// is over.
  struct Turn {
    uint32_t number = 0;
    bool answered = false;
    std::unique_ptr<Chain> chain;
  };
  std::optional<Turn> next_turn(uint32_t member);
  /// Blocks until the budget grants the request; false where it never will, or all is stopped.
  bool claim(const Budget::Claim& claim);
  Budget::Claim claim_of(size_t prompt_characters, const Sampling& sampling,
                         const std::optional<ModelPrice>& price, size_t answers = 1);
  /// At most so many other chains of the same model and task that nobody has begun, which are the
  /// asker's from now on.
  std::vector<uint32_t> take_siblings(uint32_t chain, uint32_t member, int most);
  void settle(const Budget::Claim& claim, const Usage* usage,
              const std::optional<ModelPrice>& price);
  void add_spent(const Usage& usage, const std::optional<double>& cost);
  void give_to_device(Waiting waiting);
  /// The chain goes on: its next attempt is `member`'s.
  void go_on(std::unique_ptr<Chain> chain, uint32_t member);
  /// Nothing more is done for the chain now.
  void leave();
  /// The member is not asked any more.
  void lose(uint32_t member);

  // --- devices -------------------------------------------------------------------------------
  /// The answer that has waited longest, but none whose candidate another device has at hand.
  /// Nothing: there will be no more.
  std::optional<Waiting> next_waiting();
  void looked_at(const std::string& hash);
  /// The file of the answer that comes next, if one waits; else empty.
  std::string file_after();

  // --- ends ----------------------------------------------------------------------------------
  enum class Stop {
    none,
    budget,       ///< no further request; what was answered is judged
    interrupted,  ///< no further request and no further judging
    disk_full,    ///< the same, as nothing more can be kept
  };
  void stop(Stop how, const std::string& reason);
  Stop stopped() const;
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
  bool room() const { return devices_ == 0 || waiting_.size() < 2 * devices_; }
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
  std::vector<std::deque<std::unique_ptr<Chain>>> ready_;  ///< one a member
  std::vector<std::deque<uint32_t>> open_;                 ///< one a member
  std::deque<uint32_t> answered_;
  std::vector<bool> touched_;     ///< chains that are open, answered or done
  std::vector<uint32_t> cursor_;  ///< one a member: chains before it are begun or not its own
  std::vector<bool> lost_;
  std::deque<Waiting> waiting_;
  std::set<std::string> at_hand_;
  size_t most_waiting_ = 0;
  size_t under_way_ = 0;  ///< requests
  size_t active_ = 0;     ///< chains in some thread's hands or waiting for a device
  Stop stop_ = Stop::none;
  std::string reason_;
};

}  // namespace kbench::generate
