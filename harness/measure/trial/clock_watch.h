// Whether the device runs at full clock, and how to get it there. A GPU that has idled, if only for
// half a second, runs at a fraction of its clock (an H200 at 345 of 1980 MHz, for the first fifth
// of a second that it works again), which would falsify the times.
#pragma once

#include <limits>
#include <optional>

#include "harness/measure/trial/kernels.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::trial {

/// What is known of a device's full clock: the shortest time that a fixed number of cycles took.
class FullClock {
 public:
  /// Takes note of the time. `slack`: how much longer than the shortest it may be, as a factor.
  bool reached(double chain_ns, double slack);

 private:
  double fastest_ns_ = std::numeric_limits<double>::infinity();
};

/// Times a chain of dependent multiply-adds in one workgroup, a fixed number of cycles that takes
/// microseconds. On software devices it does nothing and always reports the full clock.
class ClockWatch {
 public:
  explicit ClockWatch(vulkan::Device& device);

  /// Keeps the device busy until it runs at full clock: for less than a millisecond if it does, for
  /// 0.3 s at most, or a second where it still runs at an idle clock. The first call takes 0.3 s,
  /// as it learns what the full clock is.
  void raise(Kernels& kernels);
  /// Whether raise() need not learn any more what the full clock is.
  bool learned() const { return learned_ || !commands_; }
  /// Records the chain; the caller records timestamps before and after.
  void record(vulkan::Commands& commands);
  /// Whether a chain that took so long ran at full clock.
  bool at_full_clock(double chain_ns);

 private:
  vulkan::Device& device_;
  vulkan::Buffer sink_, busy_;
  std::optional<vulkan::Commands> commands_;
  FullClock clock_;
  bool learned_ = false;
};

}  // namespace kbench::trial
