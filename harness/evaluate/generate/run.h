// A run: models are asked, candidates are judged and repaired, until every chain is done or the run
// is stopped. All results are on disk (docs/models.md), and a later call continues from there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/evaluate/generate/budget.h"
#include "harness/evaluate/generate/ledger.h"
#include "harness/evaluate/generate/plan.h"
#include "harness/evaluate/generate/scheduler.h"
#include "harness/evaluate/generate/store.h"
#include "kbench/episode.h"
#include "kbench/model.h"
#include "kbench/openai_model.h"
#include "kbench/pool.h"
#include "kbench/prompts.h"

namespace kbench::generate {

/// A model of the run.
struct Member {
  std::shared_ptr<Model> model;
  Sampling sampling = {};
  std::optional<ModelPrice> price = {};
  int connections = 1;  ///< concurrent requests
  std::vector<std::string> thinking_tags = ExtractOptions{}.thinking_tags;
};

/// Progress of a run.
struct Status {
  uint32_t chains = 0, done = 0;
  uint32_t lost = 0;      ///< chains that this process leaves open: unanswered, or not judged
  int64_t attempts = 0;   ///< counted ones, including earlier processes'
  int64_t passed = 0;     ///< of the attempts
  int64_t requests = 0;   ///< by this process
  int64_t judged = 0;     ///< on a device, by this process
  int64_t reused = 0;     ///< verdicts taken over from identical candidates
  int64_t confirmed = 0;  ///< winners measured again, by this process
  size_t waiting = 0, under_way = 0, most_waiting = 0;
  Spent spent;
  double seconds = 0;         ///< since this process began the run
  double device_seconds = 0;  ///< device time, summed over devices
};

struct RunOptions {
  Plan plan;
  std::vector<Member> members;  ///< as plan.members()
  Prompts prompts;
  EpisodeOptions episode = {};  ///< its thinking tags are replaced by the members'
  uint64_t seed = 0;
  bool judging = true;  ///< false: candidates are stored and not judged
  bool asking = true;   ///< false: only answers of earlier processes are judged
  BudgetLimits limits = {};
  std::vector<std::unique_ptr<Evaluator>> evaluators = {};  ///< one a device
  /// Stops new requests and judging; what is under way is waited for. What waits for a device is
  /// judged by the next run in the folder.
  std::stop_token interrupt = {};
  std::stop_token cancel = {};  ///< cancels the requests under way too
  std::function<double()> now = {};
  /// Called after each attempt, by one thread at a time.
  std::function<void(const Attempt&, const Status&)> on_attempt = {};
  /// Called after each winner that was measured again, by one thread at a time: `done` of `all`.
  std::function<void(const Result&, size_t done, size_t all)> on_confirmed = {};
  /// A warning, such as a model that is given up. Called by any thread.
  std::function<void(const std::string&)> on_warning = {};
};

struct RunOutcome {
  Scheduler::Stop stop = Scheduler::Stop::none;
  std::string reason;  ///< the budget that ran out; empty if none did
  Status status;
  bool complete() const { return status.done == status.chains; }
};

/// At the end of a run that judged and was not interrupted, winners that were chosen among several
/// measurements are measured again, into confirmed.jsonl; one that cannot be is a warning.
/// The caller holds the folder's RunLock. Throws kIo and kParse; and an evaluator's Error, and
/// kDeviceLost when no device is left, after every answer that was received is on disk.
RunOutcome run(const RunFolder& folder, RunOptions options);

}  // namespace kbench::generate
