// An Episode driven by a Model: for those who bring something that answers.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "kbench/attempt.h"
#include "kbench/episode.h"
#include "kbench/model.h"
#include "kbench/prompts.h"
#include "kbench/task.h"

namespace kbench {

struct SolveOptions {
  EpisodeOptions episode = {};
  Sampling sampling = {};
  uint64_t seed = 0;  ///< of the run; each request's own is drawn from it (kbench/exchange.h)
  int sample = 1;
  int tries = 3;  ///< of a request that stays unanswered
  std::stop_token stop = {};
  Investigate investigate = {};
  /// Called after each step, with the answer it is of.
  std::function<void(const EpisodeStep&, const Answer&)> on_step = {};
};

/// Asks and judges until the episode is done, the model fails or stop is requested. The attempts in
/// order; a last one that is `unanswered`, or whose verdict is not the candidate's fault, says why
/// there are no more. Throws what the judge throws.
std::vector<Attempt> solve(const Task& task, Model& model, const Prompts& prompts,
                           const Judge& judge, const SolveOptions& options = {});

/// Asks, and again up to `tries` times where a request stays unanswered. Throws the last
/// ModelError.
Answer ask_patiently(Model& model, const Ask& ask, std::stop_token stop, int tries = 3);

}  // namespace kbench
