// Attempts as metrics count them: without their texts, in order, one for each (chain, attempt).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kbench/attempt.h"
#include "kbench/task.h"
#include "kbench/verdict.h"

namespace kbench {

/// The fields of an attempt that metrics count: some 100 bytes, so that a million fit in memory.
struct AttemptRow {
  uint32_t model = 0;        ///< index into AttemptSet::models()
  uint32_t answered_by = 0;  ///< the same, but for relays
  TaskId task = {};
  int sample = 1;
  int attempt = 1;
  Outcome outcome = Outcome::unanswered;
  std::optional<Verdict> verdict = {};
  bool lenient = false;  ///< extraction overlooked something
  bool operator_steps = false;
  std::optional<bool> general = {};  ///< as Attempt has it
  uint64_t candidate = 0;            ///< candidate_key() of its hash; 0: it has none
  Interval speedup = {};
  Usage usage = {};
  std::optional<double> cost = {};
  double seconds = 0;
  int64_t place = 0;  ///< byte of the file that it was read from; see read_attempts_at

  bool correct() const { return verdict == Verdict::passed; }
  /// Unanswered, or a candidate that was not judged or whose judging failed through no fault of
  /// its own: nothing is known of the model from it, and it is no sample.
  bool unfinished() const;
};

/// The attempts of a (model, task, sample), by number; where one was made twice, the last that is
/// finished.
struct Chain {
  uint32_t model = 0;
  TaskId task = {};
  int sample = 1;
  std::span<const AttemptRow> attempts = {};
};

/// Speedups that were measured once more, with a fresh seed, by task and candidate (its hash);
/// zeros where it did not pass again.
class Confirmations {
 public:
  /// A later result of the same candidate takes the place of an earlier one; those that failed
  /// through no fault of the candidate's say nothing.
  void add(const Result& result);
  std::optional<Interval> find(TaskId task, uint64_t candidate) const;
  size_t size() const { return speedups_.size(); }

 private:
  std::map<std::pair<TaskId, uint64_t>, Interval> speedups_;
};

/// A 64-bit key of a candidate's hash; 0 for the empty hash only.
uint64_t candidate_key(std::string_view hash);

class AttemptSet {
 public:
  AttemptSet() = default;
  explicit AttemptSet(std::span<const Attempt> attempts);

  void add(const Attempt& attempt);
  /// The same under other model names, given by their numbers (number_of).
  void add(const Attempt& attempt, uint32_t model, uint32_t answered_by, int64_t place = 0);
  /// A model's number, a new one where the name is new.
  uint32_t number_of(const std::string& model);
  void rename(uint32_t model, const std::string& name);
  /// Sorts what was added; to be called before any function below.
  void finish();

  /// In the order in which they first appeared.
  const std::vector<std::string>& models() const { return models_; }
  std::optional<uint32_t> find_model(std::string_view name) const;
  const std::vector<AttemptRow>& rows() const { return rows_; }
  /// By model, task and sample.
  const std::vector<Chain>& chains() const { return chains_; }
  std::span<const Chain> chains(uint32_t model) const;
  std::span<const Chain> chains(uint32_t model, TaskId task) const;
  /// The highest number of an attempt; 0 when empty.
  int longest_chain() const { return longest_chain_; }

 private:
  std::vector<std::string> models_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<AttemptRow> rows_;
  std::vector<Chain> chains_;
  int longest_chain_ = 0;
};

}  // namespace kbench
