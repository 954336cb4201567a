// One answer of a model and what became of it: the unit that runs record and metrics count.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kbench/model.h"
#include "kbench/result.h"
#include "kbench/task.h"
#include "kbench/verdict.h"

namespace kbench {

/// What extraction found in an answer, before anything was judged.
enum class Outcome {
  candidate,     ///< a candidate was found in it
  no_candidate,  ///< answered, and nothing in it is one
  wrong_task,    ///< its candidate is for another task than the one asked
  truncated,     ///< cut off at the token limit before a candidate was whole
  refused,       ///< the model or its server declined (a content filter)
  too_long,      ///< the prompt does not fit the model's context
  unanswered,    ///< the request failed, not through the model: no sample
};
std::string_view name_of(Outcome outcome);
Outcome outcome_from_name(std::string_view name);  ///< throws kInvalidArgument

/// A chain is (model, task, sample); attempts of a chain are counted from 1, samples too.
struct Attempt {
  std::string model;
  TaskId task;
  int sample = 1;
  int attempt = 1;
  int parent = 0;  ///< the attempt whose code and feedback this one was shown; 0: none

  Outcome outcome = Outcome::unanswered;
  std::vector<std::string> leniencies;  ///< what extraction overlooked: "unclosed_fence", ...
  std::string candidate;                ///< path relative to the run; empty without one
  std::string candidate_hash;

  /// Set where a candidate was judged. With harness_error and does_not_fit an attempt
  /// is `unfinished`, no sample.
  std::optional<Verdict> verdict;
  std::string preset, device;
  Interval speedup;           ///< of passed ones
  std::string feedback_hash;  ///< of the feedback this attempt's result was turned into
  std::string prompt_hash;    ///< of the messages that were sent
  Usage usage;
  std::optional<double> cost;   ///< in the currency of the prices given; unset: unknown
  double seconds = 0;           ///< waiting for the answer
  bool operator_steps = false;  ///< the candidate uses built-in operators
  /// Of one that passed: right at all sizes drawn in secret (HoldsAt); unset: not tried.
  std::optional<bool> general = {};

  bool answered() const { return outcome != Outcome::unanswered; }
  bool correct() const { return verdict == Verdict::passed; }
};

std::string to_json(const Attempt& attempt);         ///< one line, no newline at the end
Attempt attempt_from_json(const std::string& line);  ///< throws kParse

/// Hands over a file's attempts, in its order and one at a time: files of a million are not held in
/// memory. A file that is not there is empty. A torn last line (of a run that was killed, or zero
/// bytes where power was lost) is ignored; any other malformed line throws kParse with its number.
/// Throws kIo with the reason where the file cannot be read.
void read_attempts(const std::string& path, const std::function<void(const Attempt&)>& take);
std::vector<Attempt> read_attempts(const std::string& path);
/// The same; take() also gets the byte of the file at which the attempt's line begins.
void read_attempts(const std::string& path,
                   const std::function<void(const Attempt&, int64_t)>& take);
/// The attempts whose lines begin at these bytes. Throws kIo, and kParse where none begins.
std::vector<Attempt> read_attempts_at(const std::string& path, std::span<const int64_t> places);

// Attempts as metrics count them: without their texts, in order, one for each (chain, attempt).

/// The fields of an attempt that metrics count: some 100 bytes, so that a million fit in memory.
struct AttemptRow {
  uint32_t model = 0;  ///< index into AttemptSet::models()
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
  /// The same under another model's name, given by its number (number_of).
  void add(const Attempt& attempt, uint32_t model, int64_t place = 0);
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
