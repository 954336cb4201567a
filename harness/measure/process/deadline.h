// A time limit that a suspended machine or job does not use up.
#pragma once

#include <chrono>

namespace kbench::process {

/// Counts the time of a wait in the steps in which it is looked at. A step much longer than the
/// wait between two looks means that this process itself did not run (it was stopped, or the
/// machine slept): such a step counts as one ordinary one, so that nobody is blamed for it.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(double seconds, Clock::time_point now = Clock::now())
      : seconds_(seconds), last_(now) {}

  /// Takes the time since the last look into account; true when the limit has passed.
  bool passed(Clock::time_point now = Clock::now());
  /// What has passed since the last look does not count.
  void leave_out(Clock::time_point now = Clock::now()) { last_ = now; }
  double spent() const { return spent_; }  ///< seconds, as of the last look
  double seconds() const { return seconds_; }

 private:
  double seconds_;
  double spent_ = 0;
  Clock::time_point last_;
};

}  // namespace kbench::process
