// Whether the device's processors run at full clock. A GPU that has idled for a moment starts at a
// fraction of it, an H200 at 345 of 1980 MHz for a fifth of a second: what is timed then is the
// power management.
#pragma once

#include "harness/measure/trial/kernels.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::trial {

/// Knows the clock by a chain of dependent multiply-adds in one workgroup: a fixed number of cycles
/// that takes microseconds, after any other work of the device. Software devices have no such
/// clock: there it records nothing and is always content.
class ClockWatch {
 public:
  /// Keeps the device busy with writes to `busy` for half a second, and remembers its best.
  ClockWatch(vulkan::Device& device, Kernels& kernels, const vulkan::Region& busy);

  /// Records the chain, for the caller to put between two timestamps.
  void record(vulkan::Commands& commands);
  /// Whether a chain that took so long ran at the clock the device can reach.
  bool at_full_clock(double chain_ns);

 private:
  vulkan::Device& device_;
  vulkan::Buffer sink_;
  double fastest_ns_ = 0;
};

}  // namespace kbench::trial
