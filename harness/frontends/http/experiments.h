// The experiments of an HTTP service: admitted, waited for, cancelled, and kept for a while after
// their end, so that a client whose connection broke can ask again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/evaluate/evaluators/serve_request.h"
#include "harness/frontends/http/metrics.h"
#include "kbench/pool.h"

namespace kbench::http {

struct ExperimentLimits {
  size_t most_experiments = 4096;         ///< without an outcome yet
  size_t most_bytes = size_t{256} << 20;  ///< of their candidates
  double keep_seconds = 600;              ///< an outcome
  size_t keep_bytes = size_t{64} << 20;   ///< all outcomes
};

enum class ExperimentState { queued, running, done, cancelled, failed };
std::string_view name_of(ExperimentState state);

/// An experiment to add.
struct NewExperiment {
  evaluators::ServeLine line;
  std::string text;  ///< what was sent
  /// Of an author: adding the same text again under it gives the same experiment. Empty: none.
  std::string key;
};

/// An experiment as it stands at one moment.
struct ExperimentView {
  ExperimentState state = ExperimentState::queued;
  std::string json;  ///< as the service answers with it
  bool ended() const { return state > ExperimentState::running; }
};

/// Thread-safe.
class Experiments {
 public:
  class Entry;
  using Handle = std::shared_ptr<Entry>;
  /// What became of one that was to be added; `error` is set where its key belongs to another text.
  struct Added {
    Handle handle;
    std::string error;
  };

  Experiments(Pool& pool, ExperimentLimits limits, Metrics& metrics);
  /// Cancels what is left.
  ~Experiments();
  Experiments(const Experiments&) = delete;

  /// Adds all, in the same order, or none where there is no room for all: false then.
  bool add(const std::string& author, std::vector<NewExperiment> wanted, std::vector<Added>& added);
  /// Null where the author has none of this id.
  Handle find(const std::string& author, const std::string& id);
  ExperimentView view(const Handle& handle);
  /// Waits until it has ended, `seconds` have passed, or release_waiters() was called.
  ExperimentView wait(const Handle& handle, double seconds);
  /// Waits likewise for any of these, removes those that have ended from the list, and returns
  /// them.
  std::vector<ExperimentView> wait_any(std::vector<Handle>& handles, double seconds);
  void cancel(const Handle& handle);
  static const std::string& id_of(const Handle& handle);
  void cancel_all();  ///< those that are added later, too
  /// From now on nothing waits.
  void release_waiters();
  /// Waits until none is without an outcome, for so many seconds at most; false after these.
  bool wait_all(double seconds);

  /// Seconds after which another try is likely to find room.
  int retry_after();
  /// How many outcomes were not sent to any client yet.
  size_t untold();
  size_t kept();

 private:
  using Clock = std::chrono::steady_clock;
  void end(const Handle& handle, const Pool::Outcome& outcome);
  void drop_old();
  ExperimentView view_locked(const Handle& handle);

  Pool& pool_;
  const ExperimentLimits limits_;
  Metrics& metrics_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Handle> by_id_;
  std::map<std::pair<std::string, std::string>, Handle> by_key_;  ///< author, key
  std::deque<Handle> ended_;                                      ///< oldest first
  size_t open_ = 0, open_bytes_ = 0, kept_bytes_ = 0, untold_ = 0;
  bool all_cancelled_ = false, released_ = false;
};

}  // namespace kbench::http
