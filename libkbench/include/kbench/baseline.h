// The eager baseline's own times: measuring them, and files of them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kbench/task.h"
#include "kbench/variables.h"

namespace kbench {

/// Device times of one graph's passes, milliseconds.
struct PassTimes {
  int passes = 0;
  double median_ms = 0, mean_ms = 0, min_ms = 0, max_ms = 0;
  double std_ms = 0;  ///< of the population, as KernelBench gives it
};
/// All zero when empty.
PassTimes summarize_passes(std::span<const double> milliseconds);

/// The eager baseline of one task, or why it could not be timed.
struct BaselineEntry {
  TaskId task;
  std::string name;
  Variables variables;  ///< the values the graph read
  std::string error;    ///< one line; empty when it was timed
  PassTimes times;
  double flops = 0;
  double least_bytes = 0;  ///< inputs, parameters, constants and outputs once
  double eager_bytes = 0;  ///< the same of every operator, summed: what an unfused run moves
  int launches = 0;

  bool timed() const { return error.empty(); }
};

/// Baselines of several tasks, from one run on one device.
struct Baseline {
  std::string version;  ///< kbench's
  std::string device, driver;
  bool software_device = false;  ///< timed on a CPU: the times say nothing about a GPU
  std::string preset;
  std::string date;    ///< when it began, "2025-01-31T12:00:00Z"
  std::string method;  ///< how it was timed, for people
  std::vector<BaselineEntry> tasks;
};

struct BaselineOptions {
  std::string device = "auto";  ///< as in EvaluateOptions
  std::string preset = "auto";
  Variables overrides;
  bool validate = false;   ///< Vulkan validation layer on; a message is the task's error
  int passes = 10;         ///< timed passes a task at most
  double max_seconds = 1;  ///< of device time a task; three passes are taken at least
  /// Called before a task is timed, and when its entry has been added to what there is so far.
  std::function<void(const Task& task)> on_begin;
  std::function<void(const Baseline& so_far)> on_entry;
};

/// Times the eager baseline of each task, in this process and on one device: inputs drawn on the
/// device, two warm-up passes, then timed passes, each after the caches were flushed. A task that
/// fails becomes an entry with its error. Throws Error for what is wrong with the options, and
/// where the sizes make no sense.
Baseline measure_baseline(std::span<const Task* const> tasks, const BaselineOptions& options = {});

/// One JSON document, with a newline at its end.
std::string to_json(const Baseline& baseline);
/// Replaces the file in one step: a reader finds the old document or the new one, never a part.
/// Throws kIo.
void write_baseline(const std::string& path, const Baseline& baseline);

}  // namespace kbench
