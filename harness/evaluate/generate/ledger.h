// Where a run stands, from its files alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/evaluate/generate/plan.h"
#include "harness/evaluate/generate/run_folder.h"
#include "kbench/attempt.h"
#include "kbench/episode.h"
#include "kbench/exchange.h"

namespace kbench::generate {

/// What was used up.
struct Spent {
  int64_t input = 0, output = 0;                 ///< tokens that are known
  double cost = 0;                               ///< likewise
  int64_t unknown_tokens = 0, unknown_cost = 0;  ///< answers that did not say
  void add(const Usage& usage, const std::optional<double>& price);
};

/// True where an attempt was used up: it was answered, and its candidate's verdict is its own. In a
/// run that does not judge a candidate without a verdict counts too.
bool is_counted(const Attempt& attempt, bool judging);

/// Reads attempts.jsonl and the transcripts. Some ten bytes of memory a chain; more for those that
/// are neither done nor untouched.
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

  /// What is known of a chain that is neither done nor untouched: its counted attempts, and the
  /// answers of the transcript by attempt. Taken once.
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

/// Sample and attempt of a transcript's line, without reading the answer where that can be avoided.
/// Throws kParse.
std::pair<int, int> ids_of(std::string_view line);

}  // namespace kbench::generate
