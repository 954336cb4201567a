// The eager baseline's own times, and the roofline they are held against: measuring them, and files
// of them. docs/baseline.md describes the method and the file.
#pragma once

#include <functional>
#include <map>
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
  std::string device = "auto";  ///< as in JudgeOptions
  std::string preset = "auto";
  Variables overrides = {};
  DType dtype = DType::f32;  ///< as in Question
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

// Times that were recorded elsewhere or earlier, which the eager baseline is compared with and
// candidates' speedups can be taken against.

/// One time per task, from a file of times.
struct RecordedTimes {
  std::string file;             ///< its name, without folders
  std::string column;           ///< which of the file's numbers
  std::string device;           ///< what they were taken on; empty where the file does not say
  std::string preset;           ///< empty where the file does not say
  DType dtype = DType::f32;     ///< of the tasks, of kTaskDTypes
  std::map<TaskId, double> ms;  ///< a task that failed there has none
  std::map<TaskId, Variables> variables;  ///< sizes of each task, where the file gives them

  /// The time of a task of the suite, or of one's own by name and meaning; null where there is
  /// none. A file that does not say which meaning it timed counts for any.
  const double* find(const TaskId& task) const;
  /// "torch.json (eager_ms), recorded on NVIDIA H200"; "... in f16 on NVIDIA H200".
  std::string label() const;
  /// Whether the time is of these sizes. True where the file does not say.
  bool same_sizes(const TaskAt& at, std::span<const Task> suite = tasks()) const;
  /// The time of a task in milliseconds. Throws kNotFound where there is none, kInvalidArgument
  /// where it was taken at other sizes or in another dtype.
  double time_of(const TaskAt& at, std::span<const Task> suite = tasks()) const;
};

/// Reads any of three formats: kbench's own (columns median_ms, mean_ms, min_ms, max_ms; the median
/// unless another is named), KernelBench's baseline (mean, min, max; the mean), and a table
/// {"device": .., "preset": .., "tasks": {"1/1": {"eager_ms": 2.7, ..}}} with any columns
/// (eager_strict_ms where there is one, or the only one). A file without a "dtype" is of f32.
/// Throws kIo; kParse naming file and place; kInvalidArgument, with the columns there are, when
/// `column` is none of them or must be chosen. `suite`: the tasks whose names a file of
/// KernelBench's has to bear.
RecordedTimes read_recorded_times(const std::string& path, const std::string& column = "",
                                  std::span<const Task> suite = tasks());

/// A task that both sides have timed.
struct ComparedTask {
  TaskId task;
  std::string name;
  double theirs_ms = 0, ours_ms = 0;
  double ratio = 0;  ///< theirs / ours: above 1 where ours is faster
  double roofline_share = 0, eager_share = 0;
};
struct BaselineComparison {
  std::vector<ComparedTask> tasks;         ///< in the order of ours
  std::map<int, double> geomean_by_level;  ///< of the ratios
  double geomean = 0;
  std::vector<TaskId> not_theirs, not_ours;  ///< tasks of ours that one side has no time for

  std::vector<ComparedTask> below(double ratio) const;  ///< slowest first
  std::vector<ComparedTask> worst(size_t count) const;  ///< slowest first
};
/// Throws kInvalidArgument, with both dtypes, where the times are in another one.
void require_same_dtype(DType ours, const RecordedTimes& theirs);
/// Throws kInvalidArgument where a task's sizes or the dtypes differ, kNotFound for a task the
/// suite lacks.
BaselineComparison compare_baselines(const Baseline& ours, const RecordedTimes& theirs,
                                     std::span<const Task> suite = tasks());

}  // namespace kbench
