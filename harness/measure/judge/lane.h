// The differences that the judge makes between candidates by who launches their work: command lists
// of Vulkan, CUDA's driver, or PyTorch. A runner's own differences are in runner/program.h.
#pragma once

#include "harness/measure/runner/protocol.h"

namespace kbench::judge {

class Lane {
 public:
  /// Who says how long a run took.
  enum class Clock {
    device,   ///< timestamps of the device around its work, held to the judge's clock
    outside,  ///< the judge's clock around its process's work, less a hand-over
  };

  Lane() = default;
  explicit Lane(runner::RunnerKind kind) : kind_(kind) {}

  Clock clock() const { return is_module() ? Clock::outside : Clock::device; }
  bool timed_outside() const { return clock() == Clock::outside; }
  /// The device is handed to another driver for each run; the clock rule is told what that takes.
  bool hands_over() const { return kind_ == runner::RunnerKind::cuda; }
  /// Its temporaries are its own: the judge fills none, and none is looked at.
  bool has_own_temporaries() const { return is_module(); }
  /// Its process may compile when it is called, and not only before.
  bool compiles_when_called() const { return is_module(); }
  /// Several calls, each on inputs of its own, can be timed as one run.
  bool repeats_calls() const { return is_module(); }
  /// The kernels that it calls are known from its process's word alone.
  bool tells_its_kernels() const { return is_module(); }

 private:
  bool is_module() const { return kind_ == runner::RunnerKind::torch; }

  runner::RunnerKind kind_ = runner::RunnerKind::vulkan;
};

}  // namespace kbench::judge
