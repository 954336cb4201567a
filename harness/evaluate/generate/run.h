// A run: models are asked, candidates judged and repaired, until every chain is done or something
// stops it. Whatever it comes to is on disk (docs/models.md), and a later call goes on from there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/evaluate/generate/bench.h"
#include "harness/evaluate/generate/budget.h"
#include "harness/evaluate/generate/ledger.h"
#include "harness/evaluate/generate/plan.h"
#include "harness/evaluate/generate/scheduler.h"
#include "harness/evaluate/generate/store.h"
#include "kbench/episode.h"
#include "kbench/model.h"
#include "kbench/model_config.h"
#include "kbench/prompts.h"

namespace kbench::generate {

/// Several answers to one prompt, as OpenAiModel::ask_several.
using AskSeveral =
    std::function<std::vector<Answer>(const Ask&, int, std::stop_token, std::vector<Answer>*)>;

/// A model that takes part.
struct Member {
  std::shared_ptr<Model> model;
  AskSeveral ask_several = {};  ///< may be empty
  int choices = 1;              ///< samples whose first prompt is sent once; needs ask_several
  Sampling sampling = {};
  std::optional<ModelPrice> price = {};
  int connections = 1;  ///< requests at once
  std::vector<std::string> thinking_tags = ExtractOptions{}.thinking_tags;
};

/// Where a run is.
struct Status {
  uint32_t chains = 0, done = 0;
  uint32_t lost = 0;     ///< chains that go no further now: unanswered, or not judged
  int64_t attempts = 0;  ///< counted, of earlier processes too
  int64_t passed = 0;    ///< of them
  int64_t requests = 0;  ///< by this process
  int64_t judged = 0;    ///< by this process, on a device
  int64_t reused = 0;    ///< verdicts of identical candidates
  size_t waiting = 0, under_way = 0, most_waiting = 0;
  Spent spent;
  double seconds = 0;         ///< of this process
  double device_seconds = 0;  ///< in which a device was at it, summed over devices
};

struct RunOptions {
  Plan plan;
  std::vector<Member> members;  ///< as plan.members()
  Prompts prompts;
  EpisodeOptions episode = {};  ///< thinking tags come from the members
  uint64_t seed = 0;
  bool judging = true;  ///< false: candidates are kept and not judged
  bool asking = true;   ///< false: only what was answered before is judged
  BudgetLimits limits = {};
  std::vector<std::unique_ptr<Bench>> benches = {};
  std::stop_token interrupt = {};  ///< no further request; what is under way is waited for
  std::stop_token cancel = {};     ///< that neither
  std::function<double()> now = {};
  /// Called after each attempt, never from two threads at once.
  std::function<void(const Attempt&, const Status&)> on_attempt = {};
  /// A model that is not asked any more, and why; from any thread.
  std::function<void(const std::string&)> on_warning = {};
};

struct RunOutcome {
  Scheduler::Stop stop = Scheduler::Stop::none;
  std::string reason;  ///< which budget; empty without a stop
  Status status;
  bool complete() const { return status.done == status.chains; }
};

/// The folder's lock is the caller's. Throws kIo, kParse; and what a Bench throws, once everything
/// that was answered is on disk.
RunOutcome run(const RunFolder& folder, RunOptions options);

}  // namespace kbench::generate
