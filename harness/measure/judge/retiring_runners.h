// Runners of judged candidates, until the driver has taken back the memory that they held.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "harness/measure/judge/runner_process.h"

namespace kbench::judge {

/// While a process ends, NVIDIA's driver serves no other one, for 35 ms and 10 ms more for each
/// gigabyte that the process had imported: calls of other processes wait. Thread-safe.
class RetiringRunners {
 public:
  /// Stops the runner; it is ended by the next end_held() or hold().
  void hold(std::unique_ptr<RunnerProcess> runner);
  /// Ends the runner that is held, without waiting.
  void end_held();
  /// Whether all runners that were ended are gone.
  bool all_ended();
  /// Waits until they are gone, or some seconds for each.
  void wait();

 private:
  void forget_ended();
  void end_held_locked();

  std::mutex mutex_;
  std::unique_ptr<RunnerProcess> held_;
  std::vector<std::unique_ptr<RunnerProcess>> ending_;
};

}  // namespace kbench::judge
