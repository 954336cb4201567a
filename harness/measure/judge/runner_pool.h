// Runners that wait for candidates: opening a device takes longer than most trials.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "harness/measure/judge/runner_process.h"

namespace kbench::judge {

/// Of two kinds: some are open for CUDA, which takes them longer. Not thread-safe.
class RunnerPool {
 public:
  /// Starts one, that is told nothing yet.
  explicit RunnerPool(RunnerProcess::Options options);

  size_t size() const { return idle_.size(); }
  /// Has several open the device while the caller goes on: so many in all, so many for CUDA. False
  /// when they are there.
  bool top_up(size_t wanted, size_t wanted_for_cuda);
  /// One that is open or opening; a new one where there is none. Not for CUDA where others are
  /// left.
  std::unique_ptr<RunnerProcess> take(bool for_cuda);
  /// One that is open by now; null where there is none that take() would take. Throws
  /// RunnerFailure, of one that is gone then.
  std::unique_ptr<RunnerProcess> take_open(bool for_cuda, const std::string& device_uuid);
  /// As top_up(), one by one and not all of them at once: those that open wait for each other.
  /// False when they are there, or several are opening.
  bool open_another(size_t wanted, size_t wanted_for_cuda, const std::string& device_uuid);
  /// Waits so long for one that is opening; false when none is. Throws RunnerFailure, of one that
  /// is gone then.
  bool wait_for_opening(const std::string& device_uuid, std::chrono::milliseconds most);
  /// Waits until none is opening.
  void wait_open(const std::string& device_uuid);

 private:
  using Runners = std::deque<std::unique_ptr<RunnerProcess>>;
  std::unique_ptr<RunnerProcess> start();
  std::unique_ptr<RunnerProcess> take(Runners::iterator which);
  Runners::iterator preferred(bool for_cuda);
  bool opens(Runners::iterator which, const std::string& device_uuid,
             std::chrono::milliseconds most);
  Runners::iterator first_lacking(size_t wanted, size_t wanted_for_cuda);
  size_t count_for_cuda() const;

  RunnerProcess::Options options_;
  Runners idle_;  ///< in the order in which they were started
};

}  // namespace kbench::judge
