// The command lists of a program: recorded when first run, so that what is timed by the judge's
// clock is submission and run alone.
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

/// Every list makes the caches cold first. Errors are those of vulkan::Commands and of the program.
class Recordings {
 public:
  /// Runs one of no program, too: drivers start threads and open files on first use.
  explicit Recordings(vulkan::Device& device);

  /// That of a pass, with timestamps before the caches are made cold, before the steps and behind
  /// them; without steps where a lane launches them.
  vulkan::Commands& of(Program& program, const Pass& pass, const ImportedMemory& memory);
  /// Runs dispatch's steps with timestamps between them: nanoseconds of each, of the last ones
  /// together where there are more than kMostProfiledSteps.
  std::vector<double> profile(Program& program, const ImportedMemory& memory, double seconds);
  /// Nothing of a program or its memory is kept.
  void forget();

 private:
  vulkan::Device& device_;
  trial::Kernels kernels_;
  vulkan::Buffer flush_;
  std::array<std::unique_ptr<vulkan::Commands>, 4> lists_;  ///< dispatch's, setup's, both exact
  std::unique_ptr<vulkan::Commands> spare_;  ///< of the first run, for the first list
  std::unique_ptr<vulkan::Commands> profile_;
  uint32_t profiled_steps_ = 0;
};

}  // namespace kbench::runner
