// Detects whether the device runs at full clock. After a short idle time a GPU runs at a fraction
// of it (an H200 at 345 of 1980 MHz for a fifth of a second), which would falsify the times.
#pragma once

#include "harness/measure/trial/kernels.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::trial {

/// Times a chain of dependent multiply-adds in one workgroup, a fixed number of cycles that takes
/// microseconds. On software devices it records nothing and always reports the full clock.
class ClockWatch {
 public:
  /// Keeps the device busy with writes to `busy` for half a second, and remembers the shortest
  /// time.
  ClockWatch(vulkan::Device& device, Kernels& kernels, const vulkan::Region& busy);

  /// Records the chain; the caller records timestamps before and after.
  void record(vulkan::Commands& commands);
  /// Whether a chain that took so long ran at full clock.
  bool at_full_clock(double chain_ns);

 private:
  vulkan::Device& device_;
  vulkan::Buffer sink_;
  double fastest_ns_ = 0;
};

}  // namespace kbench::trial
