// A program that a runner runs: a candidate, or a task's eager baseline.
#pragma once

#include <functional>

#include "harness/measure/runner/imported_memory.h"
#include "harness/measure/runner/protocol.h"
#include "harness/measure/vulkan/commands.h"

namespace kbench::runner {

using AfterStep = std::function<void()>;

/// What is recorded.
struct Pass {
  bool setup = false;  ///< setup's steps, not dispatch's
  bool exact = false;  ///< buffers are bound without the redzones behind them (Run::exact)
};

/// Runs a program's steps without a command list. Throws a Refused for the candidate's fault, else
/// an Error.
class Lane {
 public:
  virtual ~Lane() = default;
  /// Called before anything else.
  virtual void attach(const ImportedMemory& memory) = 0;
  /// Gives back what attach() imported.
  virtual void release() {}
  /// Before the caches are flushed for a run: what need not be timed.
  virtual void prepare(const Run& run) { static_cast<void>(run); }
  /// Whether run() takes the runner's own clock around another process, not the device's.
  virtual bool from_outside() const { return false; }
  /// Adds what only this lane knows of the last run.
  virtual void describe(Ran& ran) const { static_cast<void>(ran); }
  /// Nanoseconds from the start of the steps to their end, as Ran has them.
  virtual double run(bool setup, double seconds) = 0;
  /// The same without the steps.
  virtual double run_empty(double seconds) = 0;
  /// Times of each of dispatch's steps, at most kMostProfiledSteps; of a module of its kernels.
  virtual Profiled profile(const Profile& request) = 0;
};

/// Something that can be recorded into a command list, on the judge's memory: a candidate or a
/// task's eager baseline.
class Program {
 public:
  virtual ~Program() = default;
  /// The memory it needs besides the task's tensors, and its properties.
  virtual Built built() const = 0;
  /// The task at the size it runs at.
  virtual const Graph& graph() const = 0;
  /// Records the steps of a pass, a full barrier between each two, and calls `after_step` behind
  /// each.
  virtual void record(vulkan::Commands& commands, const Pass& pass, const ImportedMemory& memory,
                      const AfterStep& after_step) const = 0;

  /// Runs it in place of command lists, on the same device and memory; null: record() is used.
  virtual Lane* lane() { return nullptr; }
};

}  // namespace kbench::runner
