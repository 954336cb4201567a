// Candidates' runners that are of no more use, until the driver has taken back what they held.
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
  /// It does nothing more, and ends at the next end_held().
  void hold(std::unique_ptr<RunnerProcess> runner);
  /// Ends the one that hold() was last called for.
  void end_held();
  /// Whether none is on its way to its end.
  bool all_ended();
  /// Waits until none is, or some seconds for each.
  void wait();

 private:
  void forget_ended();
  void end_held_locked();

  std::mutex mutex_;
  std::unique_ptr<RunnerProcess> held_;
  std::vector<std::unique_ptr<RunnerProcess>> ending_;
};

}  // namespace kbench::judge
