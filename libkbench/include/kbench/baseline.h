// The eager baseline's own times, and the roofline they are held against: measuring them, and files
// of them. docs/baseline.md describes the method and the file.
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

/// A device's peak rates, measured by kernels of kbench's own; zero: not measured.
struct Roofline {
  double copy_bytes_per_s = 0;  ///< a float32 copy far larger than the caches, read + written
  double flops_per_s = 0;       ///< float32 fused multiply-adds in registers, each two operations

  /// The least time such a device can take, in milliseconds; 0 where it was not measured.
  double least_ms(double flops, double bytes) const;
};

/// The eager baseline of one task, or why it could not be timed.
struct BaselineEntry {
  TaskId task;
  std::string name;
  Variables variables;  ///< the values the graph read
  std::string error;    ///< one line; empty when it was timed
  PassTimes times;
  double flops = 0;
  double least_bytes = 0;     ///< inputs, parameters, constants and outputs once, as stored
  double eager_bytes = 0;     ///< the same of every operator, summed: what an unfused run moves
  double least_ms = 0;        ///< roofline of the whole task: what a perfectly fused kernel takes
  double eager_least_ms = 0;  ///< rooflines of the operators, summed: what one kernel each takes
  int launches = 0;

  bool timed() const { return error.empty(); }
  /// least_ms and eager_least_ms over the median time; 0 where either is missing. Above 1 where
  /// the caches held what the roofline takes from memory.
  double roofline_share() const;
  double eager_share() const;
};

/// Baselines of several tasks, from one run on one device.
struct Baseline {
  std::string version;  ///< kbench's
  std::string device, driver;
  bool software_device = false;  ///< timed on a CPU: the times say nothing about a GPU
  std::string preset;
  DType dtype = DType::f32;  ///< of the tasks, of kTaskDTypes
  std::string date;          ///< when it began, "2025-01-31T12:00:00Z"
  std::string method;        ///< how it was timed, for people
  Roofline roofline;
  std::vector<BaselineEntry> tasks;
};

struct BaselineOptions {
  std::string device = "auto";  ///< as in EvaluateOptions
  std::string preset = "auto";
  Variables overrides = {};
  DType dtype = DType::f32;  ///< as in EvaluateOptions
  bool validate = false;     ///< Vulkan validation layer on; a message is the task's error
  bool roofline = true;      ///< measure the device's first
  int passes = 10;           ///< timed passes a task at most
  double max_seconds = 1;    ///< of device time a task; three passes are taken at least
  /// Called before a task is timed, and when its entry has been added to what there is so far.
  std::function<void(const Task& task)> on_begin = {};
  std::function<void(const Baseline& so_far)> on_entry = {};
};

/// Times the eager baseline of each task, in this process and on one device: inputs drawn on the
/// device, two warm-up passes, then timed passes, each after the caches were flushed. A task that
/// fails becomes an entry with its error. Throws Error for what is wrong with the options, and
/// where the sizes make no sense.
///
///     const std::vector<const kbench::Task*> tasks = kbench::select_tasks("level1/*");
///     const kbench::Baseline baseline = kbench::measure_baseline(tasks, {.preset = "v0"});
///     kbench::write_baseline("baseline.json", baseline);
Baseline measure_baseline(std::span<const Task* const> tasks, const BaselineOptions& options = {});

/// One JSON document, with a newline at its end.
std::string to_json(const Baseline& baseline);
/// Replaces the file in one step: a reader finds the old document or the new one, never a part.
/// Throws kIo.
void write_baseline(const std::string& path, const Baseline& baseline);
/// Throws kIo, or kParse naming file and place.
Baseline read_baseline(const std::string& path);

/// KernelBench's baseline format (results/timing/<hardware>/baseline_time_*.json): levels, in them
/// KernelBench's file names, in them milliseconds; null where a task was not timed. Throws
/// kNotFound for a task the suite lacks, and kIo where it writes.
std::string to_kernelbench_json(const Baseline& baseline, std::span<const Task> suite = tasks());
void write_kernelbench_baseline(const std::string& path, const Baseline& baseline,
                                std::span<const Task> suite = tasks());
/// "1_Square_matrix_multiplication_.py": the file a task's definition has in KernelBench.
std::string kernelbench_file(const Task& task);

}  // namespace kbench
