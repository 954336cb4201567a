#include "kbench/solve.h"

#include <optional>
#include <string>
#include <utility>

#include "kbench/exchange.h"

namespace kbench {

Answer ask_patiently(Model& model, const Ask& ask, std::stop_token stop, int tries) {
  for (;;) {
    try {
      return model.ask(ask, stop);
    } catch (const ModelError& error) {
      if (--tries < 1 || error.reach() == ModelError::Reach::model || stop.stop_requested()) throw;
    }
  }
}

std::vector<Attempt> solve(const Task& task, Model& model, const Prompts& prompts,
                           const Judge& judge, const SolveOptions& options) {
  Episode episode(task, prompts, options.episode, judge, options.investigate);
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
