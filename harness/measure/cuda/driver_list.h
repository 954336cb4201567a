// Steps that CUDA's driver runs one after another: the counterpart of a Vulkan command list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "harness/measure/cuda/driver.h"

namespace kbench::cuda {

struct LaunchStep {
  DriverKernel kernel;
  DriverLaunch launch;
  std::vector<std::byte> parameters;  ///< as the compiler lays them out
};
/// A copy of bytes, of copy_all(); or of several rows of so many, at equal distances. The ranges do
/// not overlap.
struct CopyStep {
  uint64_t from = 0, to = 0, bytes = 0;
  uint64_t rows = 1, from_pitch = 0, to_pitch = 0;
};
/// Makes `next` a further row of the last copy where it can be one: a thousand copies take the
/// driver several milliseconds, one of a thousand rows does not. `next` has one row, and lies in
/// the allocations of the last copy.
void add_row(std::vector<CopyStep>& copies, const CopyStep& next);
/// A DriverError of a run, and the step it came from.
struct StepError {
  DriverError error;
  int step = -1;  ///< index of the step; -1: any of them
};

/// Runs of the same steps. The first run waits for each step, so that it can tell which kernel
/// failed. Later runs launch a graph of the steps (or each step, where the driver cannot record
/// them) while the device is busy with writes of the harness: the host's launching is not timed.
class DriverList {
 public:
  /// The driver outlives it.
  DriverList(Driver& driver, std::vector<LaunchStep> steps);
  ~DriverList();
  DriverList(const DriverList&) = delete;

  /// Nanoseconds by the device's clock between the steps' begin and end. Throws StepError, and
  /// Error (kTimeout) where they take longer than so many seconds: the driver hangs then.
  double run(double seconds);
  /// The same without the steps: what the harness's own part takes.
  double run_empty(double seconds);
  /// The time of each step, for at most `most`; the last holds the rest.
  std::vector<double> profile(size_t most, double seconds);
  /// Steps are recorded, not launched each time.
  bool recorded() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Copies, in any order, and waits until all are done. Throws DriverError, and Error (kTimeout)
/// after so many seconds: the driver hangs then.
void copy_all(Driver& driver, const std::vector<CopyStep>& copies, double seconds);

/// Waits until no process has work on the device: until writes of one word are done at once,
/// several in a row. Nanoseconds until the last one that was not, 0 if there was none; nothing if
/// the device was busy for so many seconds. Throws DriverError.
std::optional<double> wait_idle(Driver& driver, double seconds);

}  // namespace kbench::cuda
