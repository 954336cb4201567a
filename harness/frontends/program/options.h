// Options shared by several verbs, in groups, with their checks.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/frontends/program/command.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/evaluate.h"
#include "kbench/question.h"
#include "kbench/score.h"
#include "kbench/task.h"

namespace kbench::program {

// Checks of a value.
Check whole_number();      ///< that fits into uint64_t
Check task_dtypes();       ///< a name of kTaskDTypes
Check readable();          ///< a readable file or folder
Check readable_or_dash();  ///< the same, or "-"

/// --level and --task.
struct TaskOptions {
  std::vector<std::string> levels;
  std::string selection;

  void add_to(Command app);
  bool given() const { return !levels.empty() || !selection.empty(); }
  /// All tasks if none are given. Throws Error if a level or an item has no task, or both together
  /// leave none.
  std::vector<const Task*> select(Names names = Names::of_one) const;
};

/// The task that a word names, or that is in the file it is the path of. Throws as named_task() and
/// TaskSet::from_path().
const Task& task_argument(const std::string& text);

/// Leaves out the tasks that are not defined in the type, and says so on standard error. Throws
/// Error, saying why, where none is left.
void leave_out_undefined(std::vector<const Task*>& tasks, DType dtype);

inline constexpr char kPresetNames[] = "smoke, train, v0 or v0.1";

/// --preset, --set and --dtype.
struct SizeOptions {
  std::string preset = "auto";
  std::vector<std::string> assignments;
  std::string dtype_name;  ///< empty: not given

  /// `with_auto`: the verb opens a device, as "auto" requires; otherwise `fallback` is the default.
  void add_to(Command app, bool with_auto, const std::string& fallback = "auto");
  Variables overrides() const;
  /// The preset, which must not be "auto".
  Preset fixed_preset() const;
  /// The task at these sizes, where the preset is not "auto".
  TaskAt at(const Task& task) const {
    return task_at(task.id, fixed_preset(), overrides(), dtype());
  }
  DType dtype() const { return dtype_name.empty() ? DType::f32 : task_dtype_from_name(dtype_name); }
};

/// --prompt and --language: what a prompt asks for.
struct PromptFlags {
  std::string prompt = "default", language = "glsl";

  void add_to(Command app);
};

/// --fast-p and --fast-p-of: thresholds of fast_p, and which speedup is held to them.
struct FastPOptions {
  std::vector<double> thresholds = {1.0};
  std::string speedup_of = "own";

  void add_to(Command app);
  SpeedupOf which() const { return speedup_of_from_name(speedup_of); }
  std::string note() const;  ///< a line that says which speedup counts; empty: that at own sizes
};

/// Of "FILE" or "FILE:PART", where there is no file of the whole name: both; PART may be empty.
std::pair<std::string, std::string> file_and_part(const std::string& text);

/// The times in "FILE", or in one column of it: "FILE:COLUMN". Throws as read_recorded_times().
RecordedTimes recorded_times(const std::string& text);

/// --device and --validate.
struct DeviceOptions {
  std::string device = "auto";
  std::string devices;  ///< of --devices; empty: `device` alone
  std::string server;   ///< URL of --server; empty: this machine
  bool validate = false;
  std::string trace;  ///< file of --trace; empty: none

  void add_to(Command app, bool with_validate = true);
  /// Adds --devices and --trace too.
  void add_several_to(Command app);
  /// Adds --server too, whose token is KBENCH_TOKEN.
  void add_all_to(Command app);
  /// The chosen device; throws Error if there is none that kbench can use.
  vulkan::DeviceSnapshot choose() const;
  JudgeOptions judge() const { return {.device = device}; }
};

/// How a measurement is made, and its limits: the flags of a Question that are no sizes and no
/// device's.
class MeasureOptions {
 public:
  void add_to(Command app);
  /// What they ask, without a candidate; reads the file of --baseline.
  Question question() const;
  bool recorded_given() const { return baseline_ != "eager"; }

 private:
  Question asked_;  ///< but for the recorded times
  std::string baseline_ = "eager";
  std::deque<std::string> defaults_;  ///< of flags whose values are names, for the help page
};

/// The question of all three; of which candidate is left open.
Question question_of(const SizeOptions& size, const DeviceOptions& device,
                     const MeasureOptions& measure);

/// Checks that the tasks can be built at these sizes and, unless not asked for, that they fit the
/// device; with recorded times as the baseline also that each has one. Returns the preset. Throws
/// Error saying what to do.
Preset check_sizes(const std::vector<const Task*>& tasks, const SizeOptions& size,
                   const vulkan::DeviceSnapshot& device,
                   const std::optional<RecordedTimes>& recorded, bool must_fit = true);

}  // namespace kbench::program
