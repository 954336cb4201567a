// What a runner runs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/measure/runner/imported_memory.h"
#include "harness/measure/runner/protocol.h"
#include "harness/measure/vulkan/commands.h"
#include "kbench/error.h"

namespace kbench::runner {

using AfterStep = std::function<void()>;

/// What is recorded: setup's steps or dispatch's; and whether buffers are bound without the
/// redzones behind them (Run::exact).
struct Pass {
  bool setup = false;
  bool exact = false;
};

/// Runs a program's steps otherwise than by a command list. What the candidate is at fault for is
/// thrown as a Refused, all else as an Error.
class Lane {
 public:
  virtual ~Lane() = default;
  /// Where everything lies; before anything else.
  virtual void attach(const ImportedMemory& memory) = 0;
  /// Nanoseconds by the device's clock, from the begin of the steps to their end.
  virtual double run(bool setup, double seconds) = 0;
  /// The same hand-over for nothing.
  virtual double run_empty(double seconds) = 0;
  /// Dispatch's steps, each timed, at most kMostProfiledSteps.
  virtual std::vector<double> profile(double seconds) = 0;
};

/// Something that can be recorded into a command list, on memory of the judge's. A candidate is
/// one, a task's eager baseline another; a kind of kernel that is launched through Vulkan's command
/// lists needs nothing else to be judged.
class Program {
 public:
  virtual ~Program() = default;
  /// What it needs besides the task's tensors, and what is known of it.
  virtual Built built() const = 0;
  /// True when its command lists have to be begun with Commands::expect_cuda().
  virtual bool launches_cuda() const { return false; }
  /// Which of its configurations each of built().tunable is recorded with from now on. Throws
  /// kInternal for what there is not.
  virtual void select(const std::vector<uint32_t>& configs);
  /// Records the steps of a pass, a full barrier between each two; `after_step` is called
  /// when one has been recorded.
  virtual void record(vulkan::Commands& commands, const Pass& pass, const ImportedMemory& memory,
                      const AfterStep& after_step) const = 0;

  /// What runs it in place of command lists, by launches of its own on the same device and memory;
  /// null where record() is what there is.
  virtual Lane* lane() { return nullptr; }
};

inline void Program::select(const std::vector<uint32_t>& configs) {
  if (!configs.empty()) throw Error(ErrorCode::kInternal, "there is nothing to select among");
}

}  // namespace kbench::runner
