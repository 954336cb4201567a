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
  /// Starts one runner, which does not open its device yet.
  explicit RunnerPool(RunnerProcess::Options options);

  size_t size() const { return idle_.size(); }
  /// Lets runners open the device in the background: so many in all, so many for CUDA. False if
  /// that many were there already.
  bool top_up(size_t wanted, size_t wanted_for_cuda);
  /// A runner that is open or opening, or a new one. One for CUDA is used for other candidates only
  /// if no other is left.
  std::unique_ptr<RunnerProcess> take(bool for_cuda);
  /// A runner that is open; null if no suitable one is open yet. Throws RunnerFailure if one has
  /// failed, which is dropped.
  std::unique_ptr<RunnerProcess> take_open(bool for_cuda, const std::string& device_uuid);
  /// As top_up(), but one runner a call, since runners that open wait for each other. False if that
  /// many are there, or several are opening.
  bool open_another(size_t wanted, size_t wanted_for_cuda, const std::string& device_uuid);
  /// Waits for a runner that is opening, at most so long; false if none is. Throws RunnerFailure if
  /// one has failed, which is dropped.
  bool wait_for_opening(const std::string& device_uuid, std::chrono::milliseconds most);
  /// Waits until no runner is opening.
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
