#include "kbench/episode.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/evaluate/episode/reading.h"
#include "kbench/error.h"
#include "kbench/exchange.h"
#include "kbench/version.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

/// Bytes of an answer without a candidate that a repair prompt shows.
constexpr size_t kShownAnswer = 6000;

/// Cuts a long answer in the middle: its beginning and end matter most.
std::string shortened(const std::string& text) {
  if (text.size() <= kShownAnswer) return text;
  const auto boundary = [&](size_t at) {
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
    return at;
  };
  const size_t head = boundary(kShownAnswer / 2);
  const size_t tail = boundary(text.size() - kShownAnswer / 2);
  return text.substr(0, head) + "\n[... " + std::to_string(tail - head) + " bytes left out ...]\n" +
         text.substr(tail);
}

/// A failure that smaller sizes may show as well, with fewer numbers in it.
bool shows_at_small_sizes(Verdict verdict) {
  return is_about_values(verdict) || verdict == Verdict::input_modified ||
         verdict == Verdict::out_of_bounds;
}

template <class E>
E required(std::string_view name, E last, const std::string& what) {
  if (const auto value = value_named(name, last)) return *value;
  throw Error(ErrorCode::kInvalidArgument, "there is no " + what + " " + quoted(std::string(name)) +
                                               "; there are " + joined(names_to(last)));
}

}  // namespace

double default_reward(const Result& result) {
  return result.correct() ? 0.3 + result.speedup.low : 0.0;
}

Episode::Episode(const Task& task, Prompts prompts, EpisodeOptions options, Evaluator* judge)
    : task_(&task),
      prompts_(std::move(prompts)),
      options_(std::move(options)),
      judge_(judge),
      history_characters_(options_.history_characters) {
  if (options_.attempts < 1) {
    throw Error(ErrorCode::kInvalidArgument, "an episode takes at least one attempt");
  }
  if (std::isnan(options_.goal.faster) || options_.goal.faster < 0) {
    throw Error(ErrorCode::kInvalidArgument, "a goal's speedup must not be negative");
  }
  observe();
}

std::string Episode::prompt_hash() const { return kbench::prompt_hash(observation_); }

Reading Episode::read(const Answer& answer) const { return read_answer(answer, *task_, options_); }

Episode::Step Episode::step(const Answer& answer, const Reading& reading, Evaluator* judge) {
  if (done()) throw Error(ErrorCode::kInvalidArgument, "the episode is done");
  Step step;
  Attempt& attempt = step.attempt;
  attempt.task = task_->id;
  attempt.attempt = next_attempt();
  attempt.parent = parent_;
  attempt.outcome = reading.extraction.outcome;
  attempt.leniencies = reading.extraction.leniencies;
  attempt.candidate_hash = reading.hash;
  attempt.operator_steps = reading.operator_steps;
  attempt.prompt_hash = prompt_hash();
  attempt.usage = answer.usage;
  attempt.seconds = answer.seconds;
  attempt.preset = name_of(options_.prompt.preset);
  step.files = reading.extraction.files;

  judge_into(step, reading, judge);
  if (attempt.outcome == Outcome::candidate) {
    attempt.verdict = step.result->verdict;
    attempt.preset = step.result->preset;
    attempt.device = step.result->device;
    if (step.result->correct()) {
      attempt.speedup = step.result->speedup;
      if (step.result->holds_at) attempt.general = step.result->holds_at->everywhere();
    }
    step.counted = !is_infrastructure_fault(*attempt.verdict);
  }
  if (!step.counted) return step;
  if (options_.reward && attempt.outcome != Outcome::too_long) {
    step.reward = options_.reward(*step.result);
  }
  tell(step, reading, judge);
  attempt.feedback_hash = step.feedback.hash;
  advance(answer, step.files, attempt, step.feedback.text);
  return step;
}

void Episode::replay(const Answer& answer, const Attempt& recorded, const std::string& feedback) {
  if (done()) throw Error(ErrorCode::kInvalidArgument, "the episode is done");
  advance(answer, read_files(answer, *task_, options_), recorded, feedback);
}

/// At the sizes asked for, or a look at those of another preset.
Question Episode::question_for(const Reading& reading, Preset preset) const {
  const bool asked = preset == options_.prompt.preset;
  const TaskAt at =
      asked ? options_.prompt.at(task_->id) : task_at(task_->id, preset, {}, options_.prompt.dtype);
  Question question = options_.asked;
  question.candidate = reading.extraction.files;
  question.candidate.author = options_.asked.candidate.author;
  question.preset = at.preset;
  question.overrides = at.variables;
  question.dtype = at.dtype;
  if (!asked) {
    question.recorded.reset();
    question.plan = SamplingPlan::look();
    question.plan.seed = options_.asked.plan.seed;
  }
  return question;
}

void Episode::judge_into(Step& step, const Reading& reading, Evaluator* judge) const {
  if (!reading.needs_judge()) {
    step.result = reading.refused ? *reading.refused
                                  : unjudged(*task_, options_, reading.extraction.explanation);
    return;
  }
  if (judge == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "an episode without a judge was given a candidate");
  }
  const auto judged = [&](Preset preset) { return judge->evaluate(question_for(reading, preset)); };
  const bool also_smoke = options_.prompt.preset != Preset::smoke;
  std::optional<Result> small;
  if (also_smoke && options_.smoke == Smoke::first) {
    small = judged(Preset::smoke);
    // Wrong values do not count here: a candidate may be for the sizes asked for alone.
    if (is_candidates_fault(small->verdict) && !shows_at_small_sizes(small->verdict)) {
      step.result = *std::move(small);
      return;
    }
  }
  step.result = judged(options_.prompt.preset);
  if (!also_smoke || !shows_at_small_sizes(step.result->verdict)) return;
  if (options_.smoke == Smoke::after) small = judged(Preset::smoke);
  if (small && shows_at_small_sizes(small->verdict)) step.reduced = std::move(small);
}

void Episode::tell(Step& step, const Reading& reading, Evaluator* judge) const {
  FeedbackOptions options = options_.feedback;
  std::string note;
  if (repeats(step.attempt)) {
    note =
        "This is the same candidate as in the attempt before, so the outcome is the same too. "
        "Change it.\n\n";
    options.max_characters -= std::min(options.max_characters, note.size());
  }
  if (step.attempt.outcome != Outcome::candidate) {
    step.feedback = feedback(reading.extraction, options);
  } else {
    const Result& about = step.reduced ? *step.reduced : *step.result;
    Evidence evidence;
    // No device time is spent on feedback that no model will read.
    if (judge != nullptr && !reading.refused && options.evidence && !ending_with(step.attempt)) {
      evidence = judge->investigate(question_for(reading, preset_from_name(about.preset)), about);
      if (!evidence.steps.empty()) {  // Their times are held to the device's rates.
        evidence.roof_gbytes_per_s = options_.prompt.roof_gbytes_per_s;
        evidence.roof_tflops = options_.prompt.roof_tflops;
      }
    }
    step.feedback = feedback(about, reading.candidate.get(), evidence, options);
  }
  if (note.empty()) return;
  step.feedback.text = note + step.feedback.text;
  step.feedback.hash = Sha256().add(step.feedback.text).hex();
}

bool Episode::repeats(const Attempt& attempt) const {
  return !past_.empty() && !attempt.candidate_hash.empty() &&
         past_.back().hash == attempt.candidate_hash;
}

std::optional<Episode::Ending> Episode::ending_with(const Attempt& attempt) const {
  if (attempt.verdict && options_.goal.reached(*attempt.verdict, attempt.speedup)) {
    return Ending::goal;
  }
  if (attempt.outcome == Outcome::too_long &&
      (options_.shown != Shown::history || shown().size() < 2)) {
    return Ending::too_long;
  }
  if (attempts_ + 1 >= options_.attempts) return Ending::attempts;
  if (repeats(attempt) && repeats_ > 0) return Ending::repeated;
  return std::nullopt;
}

void Episode::advance(const Answer& answer, const CandidateFiles& files, const Attempt& attempt,
                      const std::string& feedback) {
  ending_ = ending_with(attempt);
  repeats_ = repeats(attempt) ? repeats_ + 1 : 0;
  ++attempts_;
  asked_.push_back(prompt_hash());
  if (attempt.outcome == Outcome::too_long) {
    history_characters_ /= 2;  // there is no answer to show
  } else {
    Past& past = past_.emplace_back();
    past.attempt = attempts_;
    past.shown.files = files;
    if (files.empty()) past.shown.answer = shortened(answer.text);
    past.shown.feedback = feedback;
    past.shown.outcome = attempt.verdict ? name_of(*attempt.verdict) : name_of(attempt.outcome);
    past.hash = attempt.candidate_hash;
    past.verdict = attempt.verdict;
    past.speedup_low = attempt.speedup.low;
  }
  if (!ending_) observe();
}

const Episode::Past* Episode::best() const {
  const Past* found = nullptr;
  for (const Past& past : past_) {
    if (past.verdict != Verdict::passed) continue;
    if (found == nullptr || past.speedup_low > found->speedup_low) found = &past;
  }
  return found != nullptr ? found : &past_.back();
}

std::vector<const Episode::Past*> Episode::shown() const {
  if (past_.empty()) return {};
  if (options_.shown == Shown::last) return {&past_.back()};
  if (options_.shown == Shown::best) return {best()};
  std::vector<const Past*> all;
  size_t characters = 0;
  for (auto past = past_.rbegin(); past != past_.rend(); ++past) {
    characters += past->shown.answer.size() + past->shown.feedback.size();
    for (const auto& [name, text] : past->shown.files) characters += name.size() + text.size();
    if (!all.empty() && characters > history_characters_) break;
    all.push_back(&*past);
  }
  std::reverse(all.begin(), all.end());
  return all;
}

void Episode::observe() {
  if (past_.empty()) {
    observation_ = prompts_.first(*task_, options_.prompt);
    return;
  }
  std::vector<const Past*> all = shown();
  const auto render = [&] {
    std::vector<ShownAttempt> attempts;
    for (const Past* past : all) attempts.push_back(past->shown);
    observation_ = prompts_.repair(*task_, options_.prompt, attempts);
  };
  render();
  parent_ = all.back()->attempt;
  // Otherwise a model whose last attempt was worse than its best would get the same prompt again.
  if (options_.shown == Shown::best && all.back() != &past_.back() &&
      std::find(asked_.begin(), asked_.end(), prompt_hash()) != asked_.end()) {
    all.push_back(&past_.back());
    render();
  }
}

std::string_view name_of(Shown shown) {
  return name_in<Shown::history>({"last", "best", "history"}, shown);
}
std::string_view name_of(Smoke smoke) {
  return name_in<Smoke::never>({"first", "after", "never"}, smoke);
}
std::string_view name_of(Episode::Ending ending) {
  return name_in<Episode::Ending::too_long>({"goal", "attempts", "repeated", "too_long"}, ending);
}
Shown shown_from_name(std::string_view name) { return required(name, Shown::history, "context"); }
Smoke smoke_from_name(std::string_view name) { return required(name, Smoke::never, "smoke rule"); }

Goal goal_from_name(std::string_view name) {
  if (name == "correct") return {};
  constexpr std::string_view kFaster = "faster:";
  double faster = 0;
  if (name.starts_with(kFaster)) {
    const bool number = read_number(name.substr(kFaster.size()), faster);
    if (number && std::isfinite(faster) && faster > 0) return {faster};
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      "a goal is 'correct' or 'faster:P' with a speedup P, not " + quoted(std::string(name)));
}

std::string to_string(const Goal& goal) {
  return goal.faster > 0 ? "faster:" + number_text(goal.faster) : "correct";
}

Answer ask_patiently(Model& model, const Ask& ask, std::stop_token stop, int tries) {
  for (;;) {
    try {
      return model.ask(ask, stop);
    } catch (const ModelError& error) {
      if (--tries < 1 || error.reach() == ModelError::Reach::model || stop.stop_requested()) throw;
    }
  }
}

std::vector<Attempt> solve(const Task& task, Model& model, const Prompts& prompts, Evaluator& judge,
                           const SolveOptions& options) {
  Episode episode(task, prompts, options.episode, &judge);
  std::vector<Attempt> attempts;
  const auto keep = [&](Attempt attempt) {
    attempt.model = model.name();
    attempt.sample = options.sample;
    attempts.push_back(std::move(attempt));
  };
  while (!episode.done() && !options.stop.stop_requested()) {
    const int number = episode.next_attempt();
    Ask ask;
    ask.messages = episode.observation();
    ask.sampling = options.sampling;
    ask.seed = request_seed(options.seed, model.name(), task.id, options.sample, number);
    ask.purpose = purpose_of(task.id, options.sample, number);
    std::optional<Answer> answer;
    try {
      answer = ask_patiently(model, ask, options.stop, options.tries);
    } catch (const ModelError&) {
      Attempt lost;
      lost.task = task.id;
      lost.attempt = number;
      lost.parent = episode.parent();
      lost.prompt_hash = episode.prompt_hash();
      keep(std::move(lost));
      break;
    }
    const EpisodeStep step = episode.step(*answer);
    keep(step.attempt);
    if (options.on_step) options.on_step(step, *answer);
    if (!step.counted) break;
  }
  return attempts;
}

}  // namespace kbench
