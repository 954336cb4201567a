// Times that were recorded elsewhere or earlier, which the eager baseline is compared with and
// candidates' speedups can be taken against.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "kbench/baseline.h"
#include "kbench/task.h"
#include "kbench/variables.h"

namespace kbench {

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
