// The state of a run, read from its files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/evaluate/generate/plan.h"
#include "harness/evaluate/generate/store.h"
#include "kbench/attempt.h"
#include "kbench/episode.h"
#include "kbench/exchange.h"

namespace kbench::generate {

/// What was spent.
struct Spent {
  int64_t input = 0, output = 0;                 ///< as far as the answers report them
  double cost = 0;                               ///< as far as it is known
  int64_t unknown_tokens = 0, unknown_cost = 0;  ///< answers that report none
  void add(const Usage& usage, const std::optional<double>& price);
};

/// Whether an attempt counts: it was answered, and it has a verdict that is the candidate's own. In
/// a run that does not judge, a candidate without a verdict counts too.
bool is_counted(const Attempt& attempt, bool judging);

/// Reads attempts.jsonl and the transcripts. Takes about ten bytes of memory for each chain, and
/// more for those that have begun and are not done.
class Ledger {
 public:
  /// `attempts` and `goal`: when a chain is done. Cuts torn lines off the transcripts. Throws kIo,
  /// kParse.
  Ledger(const RunFolder& run, const Plan& plan, int attempts, const Goal& goal, bool judging);

  struct ChainState {
    uint16_t counted = 0;  ///< attempts
    bool done = false;
    bool answered = false;  ///< the transcript holds the answer to the next attempt
  };
  const ChainState& state(uint32_t chain) const { return states_.at(chain); }
  uint32_t chains_done() const { return done_; }
  const Spent& spent() const { return spent_; }
  int64_t attempts() const { return attempts_; }
  int64_t passed() const { return passed_; }

  /// What is known of a chain that has begun and is not done: its counted attempts, and the
  /// transcript's answers by attempt. Can be taken once.
  struct Past {
    std::vector<Attempt> attempts;
    std::vector<std::pair<int, int64_t>> answers;  ///< attempt -> offset of the transcript's line
  };
  Past take(uint32_t chain);

 private:
  void read_attempts_of(const RunFolder& run, const Plan& plan, int attempts, const Goal& goal,
                        bool judging);
  void scan_transcripts(const RunFolder& run, const Plan& plan);

  std::vector<ChainState> states_;
  std::unordered_map<uint32_t, Past> open_;
  uint32_t done_ = 0;
  int64_t attempts_ = 0, passed_ = 0;
  Spent spent_;
};

/// The fastest correct attempt of each model on each task, task by task. `unconfirmed`: only those
/// that were chosen among several measurements and do not stand in confirmed.jsonl. Throws kIo and
/// kParse.
std::vector<Attempt> winners_of(const RunFolder& folder, bool unconfirmed);

}  // namespace kbench::generate
