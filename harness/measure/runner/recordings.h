// The command lists of a program. They are recorded on the first run, so that later runs are only
// submitted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/measure/runner/imported_memory.h"
#include "harness/measure/runner/program.h"
#include "harness/measure/trial/kernels.h"
#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::runner {

/// Every list flushes the caches first. Errors are those of vulkan::Commands and of the program.
class Recordings {
 public:
  /// Runs one list without a program, since drivers start threads and open files on first use.
  explicit Recordings(vulkan::Device& device);

  /// The list of a pass, with timestamps before the flush, before the steps and after them; without
  /// steps if the program has a lane.
  vulkan::Commands& of(Program& program, const Pass& pass, const ImportedMemory& memory);
  /// Runs dispatch's steps with timestamps between them; returns the nanoseconds of each. Steps
  /// from number kMostProfiledSteps on are one.
  std::vector<double> profile(Program& program, const ImportedMemory& memory, double seconds);
  /// Overwrites what kernels before left in local memory, which a process keeps to its end.
  void overwrite_stacks(double seconds);
  /// Drops all lists, before the program or its memory changes.
  void forget();

 private:
  vulkan::Device& device_;
  trial::Kernels kernels_;
  vulkan::Buffer flush_;
  std::array<std::unique_ptr<vulkan::Commands>, 4> lists_;  ///< dispatch's, setup's, both exact
  std::unique_ptr<vulkan::Commands> spare_;  ///< of the constructor, reused for the first list
  std::unique_ptr<vulkan::Commands> profile_;
  uint32_t profiled_steps_ = 0;
};

}  // namespace kbench::runner
