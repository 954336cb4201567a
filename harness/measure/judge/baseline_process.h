// The runner of the eager baseline: trusted, and kept from task to task.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "harness/measure/judge/runner_process.h"
#include "harness/measure/process/own_folder.h"
#include "kbench/task.h"

namespace kbench::judge {

// Notes of which baselines have been compared with the reference, kept from one judge to the next:
// once a device and build is enough.

/// Baselines that were found right: signed lines in a file of the folder. Invalid lines are
/// ignored; a baseline without a note is checked again. Nothing here throws.
class VerifiedNotes {
 public:
  /// Keeps none.
  VerifiedNotes() = default;
  /// `subject`: what a note holds for, a build and a device with its driver; another subject's
  /// notes are not seen.
  VerifiedNotes(process::OwnFolder folder, const std::string& subject);

  bool has(TaskId task) const { return noted_.contains(task); }
  void add(TaskId task);

 private:
  std::string signature(TaskId task) const;

  process::OwnFolder folder_;
  std::string name_, subject_;
  std::set<TaskId> noted_;
};

/// A hash of this program's own bytes; empty where they cannot be read.
std::string build_identity();

/// Every call throws RunnerFailure if the process fails; it cannot be used afterwards.
class BaselineProcess {
 public:
  /// Starts it, and has it open the device.
  explicit BaselineProcess(const RunnerProcess::Options& options)
      : runner_(runner::RunnerKind::eager, options) {
    runner_.begin_open();
  }

  RunnerProcess& runner() { return runner_; }
  /// `notes` must outlive this.
  void use(VerifiedNotes& notes) { notes_ = &notes; }
  /// Tells it to make the task's baseline, unless it was told so last. Does not wait. `seed`: of
  /// the inputs on which the baseline is compared with the reference.
  void prepare(const TaskAt& key, uint64_t seed);
  /// Whether it was told so last; where it was not, prepare() may have to wait for the other task.
  bool prepared_for(const TaskAt& key) const { return told_ == truth_of(key); }
  /// Whether prepare() is done, without waiting.
  bool is_prepared() { return !pending_ || runner_.answers_within(std::chrono::milliseconds(0)); }
  /// Waits until prepare() is done; returns at once if it is.
  void wait_prepared();
  /// Waits until it has given back the memory that the store holds no more.
  void release_memory(const SlabStore& store);

 private:
  static TaskAt truth_of(const TaskAt& key);

  RunnerProcess runner_;
  std::optional<TaskAt> told_;
  VerifiedNotes* notes_ = nullptr;
  bool pending_ = false;
};

}  // namespace kbench::judge
