#include "harness/measure/process/deadline.h"

#include <algorithm>

namespace kbench::process {
namespace {

/// Longer than the time between two calls of passed() on a loaded machine; seconds.
constexpr double kLongestStep = 2;

}  // namespace

bool Deadline::passed(Clock::time_point now) {
  const double step = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  spent_ += std::min(step, kLongestStep);
  return spent_ > seconds_;
}

}  // namespace kbench::process
