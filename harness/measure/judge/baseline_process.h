// The runner of the eager baseline: trusted, and kept from task to task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/measure/judge/runner_process.h"
#include "harness/measure/judge/verified_notes.h"
#include "kbench/task.h"

namespace kbench::judge {

/// What later runs need not do again.
struct BaselineCache {
  VerifiedNotes notes;  ///< baselines that agreed with the reference
  std::string folder;   ///< of compiled pipelines; empty: none are kept
  std::string subject;  ///< what they were compiled for
};

/// Every call throws RunnerFailure if the process fails; it cannot be used afterwards.
class BaselineProcess {
 public:
  /// Starts it, and has it open the device.
  explicit BaselineProcess(const RunnerProcess::Options& options)
      : runner_(runner::RunnerKind::eager, options) {
    runner_.begin_open();
  }

  RunnerProcess& runner() { return runner_; }
  /// `cache` must outlive this.
  void use(BaselineCache& cache) { cache_ = &cache; }
  /// Tells it to make the task's baseline, unless it was told so last. Does not wait. `seed`: of
  /// the inputs on which the baseline is compared with the reference.
  void prepare(const TaskAt& key, uint64_t seed);
  /// Waits until prepare() is done; returns at once if it is.
  void wait_prepared();
  /// Waits until it has given back the memory it has imported.
  void release_memory();

 private:
  RunnerProcess runner_;
  std::optional<TaskAt> told_;
  BaselineCache* cache_ = nullptr;
  bool pending_ = false;
};

}  // namespace kbench::judge
