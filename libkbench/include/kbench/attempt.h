// One answer of a model and what became of it: the unit that runs record and metrics count.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// A chain is (model, task, sample); attempts of a chain are counted from 1, samples too. In a
/// relay several models share a chain, which then carries the relay's name in `model` and the
/// answering model's in `answered_by`.
struct Attempt {
  std::string model;
  std::string answered_by;  ///< empty: `model`
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

}  // namespace kbench
