// One chain of attempts at one task as a pure object: messages out, an answer in, until it is done.
//
// A program that trains or evaluates a model which it owns uses this and nothing else of the loop:
//
//     kbench::JudgeProcess judge;
//     kbench::Episode episode(task, kbench::Prompts::shipped(), {.attempts = 4}, &judge);
//     while (!episode.done()) {
//       const std::string text = my_model(episode.observation());
//       const kbench::EpisodeStep step = episode.step({.text = text, .finish = "stop"});
//       if (step.reward) learn(text, *step.reward);
//     }
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/attempt.h"
#include "kbench/evaluate.h"
#include "kbench/extract.h"
#include "kbench/feedback.h"
#include "kbench/model.h"
#include "kbench/prompts.h"
#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench {

/// A candidate's files: relative path -> text, "candidate.yaml" among them.
using CandidateFiles = std::map<std::string, std::string>;

/// The goal of a chain: a correct candidate, or one whose speedup's lower bound is above `faster`.
struct Goal {
  double faster = 0;
  bool reached(Verdict verdict, const Interval& speedup) const {
    return verdict == Verdict::passed && (faster <= 0 || speedup.low > faster);
  }
};
Goal goal_from_name(std::string_view name);  ///< "correct", "faster:1.5"; throws kInvalidArgument
std::string to_string(const Goal& goal);

/// What a repair prompt shows. Code and feedback are always of one attempt.
enum class Shown {
  last,     ///< the last attempt
  best,     ///< the best so far; with the last one too where it alone would be asked about again
  history,  ///< all that fit in EpisodeOptions::history_characters, the oldest dropped whole
};
Shown shown_from_name(std::string_view name);  ///< throws kInvalidArgument
std::string_view name_of(Shown shown);

/// When a candidate is tried at the preset `smoke`, where that is not the preset asked for. A
/// failure that shows at both is told from there: it has the smaller numbers.
enum class Smoke {
  /// Before: what does not compile or run there has failed. Wrong values are judged at the preset
  /// asked for all the same, which alone says whether they are wrong.
  first,
  after,  ///< where values are wrong at the preset asked for
  never,
};
Smoke smoke_from_name(std::string_view name);  ///< throws kInvalidArgument
std::string_view name_of(Smoke smoke);

/// 0 for what is wrong; 0.3 and the speedup's lower bound for what is right. After Baronio et al.,
/// "Kevin: Multi-Turn RL for Generating CUDA Kernels", 2025, which takes the speedup itself.
double default_reward(const Result& result);

struct EpisodeOptions {
  int attempts = 1;
  Goal goal = {};
  Shown shown = Shown::last;
  Smoke smoke = Smoke::first;
  PromptContext prompt = {};  ///< also says the sizes, and whether built-in steps are allowed
  /// How candidates are judged. Of each question the candidate's files, sizes and type are the
  /// episode's; at the preset `smoke` it only looks (SamplingPlan::look()).
  Question asked = {};
  FeedbackOptions feedback = {};
  ExtractOptions extract = {};  ///< `asked` is what the prompt's language asks for
  size_t history_characters = 48'000;
  std::function<double(const Result&)> reward = default_reward;
};

/// An answer read: what it holds, and what can be said of that without a device.
struct Reading {
  Extraction extraction;
  std::string hash;                    ///< of the files; empty without
  bool operator_steps = false;         ///< it uses built-in operators
  std::optional<Result> refused = {};  ///< invalid_candidate, where no device is needed to see it
  std::shared_ptr<const Candidate> candidate = {};  ///< as loaded; null where it could not be
  bool needs_judge() const { return extraction.outcome == Outcome::candidate && !refused; }
};

/// The outcome of one answer.
struct EpisodeStep {
  /// Without what the episode does not know: model, sample, path and cost.
  Attempt attempt;
  CandidateFiles files;                ///< empty where the answer held none
  std::optional<Result> result;        ///< of what was judged or refused
  std::optional<Result> reduced = {};  ///< of smaller sizes, where the feedback tells of those
  Feedback feedback;                   ///< also of the last attempt
  std::optional<double> reward;        ///< unset for harness_error and does_not_fit
  /// False for harness_error and does_not_fit: no attempt was used up, observation() is unchanged,
  /// and the same answer can be handed in again.
  bool counted = true;
};

/// Asks no model and writes no file; the evaluator is called in the thread that calls step(). Not
/// thread-safe. The task and the evaluator must outlive it.
class Episode {
 public:
  using Step = EpisodeStep;
  enum class Ending {
    goal,      ///< reached
    attempts,  ///< used up
    repeated,  ///< the same candidate again, after it was told so
    too_long,  ///< a prompt that the model cannot take, and nothing to leave out of it
  };

  /// `judge`: null for an episode whose steps are given one each. Throws kInvalidArgument for
  /// options that make no sense.
  Episode(const Task& task, Prompts prompts, EpisodeOptions options, Evaluator* judge = nullptr);

  /// What the model is to be asked next; the last question when done().
  const std::vector<Message>& observation() const { return observation_; }
  std::string prompt_hash() const;                    ///< of observation()
  int next_attempt() const { return attempts_ + 1; }  ///< counted from 1
  int parent() const { return parent_; }              ///< Attempt::parent of the next attempt
  bool done() const { return ending_.has_value(); }
  std::optional<Ending> ending() const { return ending_; }

  /// Reads, judges, and makes the next observation. Throws what the judge throws, and nothing has
  /// happened then; kInvalidArgument when done().
  Step step(const Answer& answer) { return step(answer, read(answer)); }
  /// The same in two parts, the first of which needs no device and may run in another thread.
  Reading read(const Answer& answer) const;
  Step step(const Answer& answer, const Reading& reading) { return step(answer, reading, judge_); }
  /// The same with another judge than the episode's own.
  Step step(const Answer& answer, const Reading& reading, Evaluator* judge);
  /// Goes on as if step() had come to this: for chains that are taken up again. `result` is the
  /// recorded verdict; of `feedback` the text.
  void replay(const Answer& answer, const Attempt& recorded, const std::string& feedback);

 private:
  struct Past {
    int attempt = 0;
    ShownAttempt shown;
    std::string hash;
    std::optional<Verdict> verdict;
    double speedup_low = 0;
  };
  Question question_for(const Reading& reading, Preset preset) const;
  void judge_into(Step& step, const Reading& reading, Evaluator* judge) const;
  void tell(Step& step, const Reading& reading, Evaluator* judge) const;
  std::optional<Ending> ending_with(const Attempt& attempt) const;
  bool repeats(const Attempt& attempt) const;
  void advance(const Answer& answer, const CandidateFiles& files, const Attempt& attempt,
               const std::string& feedback);
  void observe();
  const Past* best() const;
  std::vector<const Past*> shown() const;

  const Task* task_;
  Prompts prompts_;
  EpisodeOptions options_;
  Evaluator* judge_;
  std::vector<Message> observation_;
  std::vector<std::string> asked_;  ///< hashes of the prompts so far
  std::vector<Past> past_;          ///< of those that a prompt may still show
  int attempts_ = 0;
  int parent_ = 0;
  int repeats_ = 0;  ///< how often in a row the candidate was the one before
  size_t history_characters_ = 0;
  std::optional<Ending> ending_;
};
std::string_view name_of(Episode::Ending ending);  ///< "goal", "attempts", "repeated", "too_long"

// An Episode driven by a Model: for those who bring something that answers.

struct SolveOptions {
  EpisodeOptions episode = {};
  Sampling sampling = {};
  uint64_t seed = 0;  ///< of the run; each request's own is drawn from it (kbench/exchange.h)
  int sample = 1;
  int tries = 3;  ///< of a request that stays unanswered
  std::stop_token stop = {};
  /// Called after each step, with the answer it is of.
  std::function<void(const EpisodeStep&, const Answer&)> on_step = {};
};

/// Asks and judges until the episode is done, the model fails or stop is requested. The attempts in
/// order; a last one that is `unanswered`, or whose verdict is not the candidate's fault, says why
/// there are no more. Throws what the judge throws.
std::vector<Attempt> solve(const Task& task, Model& model, const Prompts& prompts, Evaluator& judge,
                           const SolveOptions& options = {});

/// Asks, and again up to `tries` times where a request stays unanswered. Throws the last
/// ModelError.
Answer ask_patiently(Model& model, const Ask& ask, std::stop_token stop, int tries = 3);

}  // namespace kbench
