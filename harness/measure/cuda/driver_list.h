// Steps that CUDA's driver runs one after another: the counterpart of a Vulkan command list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "harness/measure/cuda/driver.h"

namespace kbench::cuda {

struct LaunchStep {
  DriverKernel kernel;
  DriverLaunch launch;
  std::vector<std::byte> parameters;  ///< as the compiler lays them out
};
/// Bytes from one address to another that do not overlap.
struct CopyStep {
  uint64_t from = 0, to = 0, bytes = 0;
};
/// Words of 4 bytes.
struct FillStep {
  uint64_t to = 0, words = 0;
  uint32_t word = 0;
};
using DriverStep = std::variant<LaunchStep, CopyStep, FillStep>;

/// A DriverError of a run, and where.
struct StepError {
  DriverError error;
  int step = -1;  ///< index of the step; -1: any of them
};

/// Runs of the same steps. The first is made step by step, each waited for, so that a kernel that
/// fails is known; for the others the steps are recorded once as a graph (or, where the driver
/// takes none of them, launched each time), and launched when the device is busy with something of
/// the harness's own already: what the host takes to launch is then in no time.
class DriverList {
 public:
  /// The driver outlives it.
  DriverList(Driver& driver, std::vector<DriverStep> steps);
  ~DriverList();
  DriverList(const DriverList&) = delete;

  /// Nanoseconds by the device's clock between the steps' begin and end. Throws StepError, and
  /// Error (kTimeout) where they take longer than so many seconds: the driver hangs then.
  double run(double seconds);
  /// The same hand-over without the steps.
  double run_empty(double seconds);
  /// The time of each step, for at most `most`; the last holds the rest.
  std::vector<double> profile(size_t most, double seconds);
  /// Steps are recorded, not launched each time.
  bool recorded() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kbench::cuda
