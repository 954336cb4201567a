// A time limit that does not run while the machine or this process is suspended.
#pragma once

#include <algorithm>
#include <chrono>

namespace kbench::process {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Adds up the times between calls of passed(), each counted as 2 s at most: a longer one means
/// that this process was stopped or the machine slept.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(double seconds, Clock::time_point now = Clock::now())
      : seconds_(seconds), last_(now) {}

  /// Counts the time since the last call; true if the limit has passed.
  bool passed(Clock::time_point now = Clock::now()) {
    constexpr double kLongestStep = 2;  // more than passes between two calls on a loaded machine
    spent_ += std::min(std::chrono::duration<double>(now - last_).count(), kLongestStep);
    last_ = now;
    return spent_ > seconds_;
  }
  /// The time since the last call is not counted.
  void leave_out(Clock::time_point now = Clock::now()) { last_ = now; }
  double spent() const { return spent_; }  ///< seconds, as of the last call
  double seconds() const { return seconds_; }

 private:
  double seconds_;
  double spent_ = 0;
  Clock::time_point last_;
};

}  // namespace kbench::process
