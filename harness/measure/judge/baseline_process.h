// The runner of the eager baseline: trusted, and kept from task to task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/judge/runner_process.h"
#include "harness/measure/judge/slab.h"
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
      : runner_(Role::baseline, options) {
    runner_.begin_open();
  }

  RunnerProcess& runner() { return runner_; }
  /// `cache` must outlive this.
  void use(BaselineCache& cache) { cache_ = &cache; }
  /// Tells it to make the task's baseline (unless it was told so last) and to give back all memory
  /// that it has imported except `kept` (Slab::memory). Does not wait. `seed`: of the inputs on
  /// which the baseline is compared with the reference.
  void prepare(const TaskAt& key, uint64_t seed, const std::vector<uint64_t>& kept = {});
  /// Waits until prepare() is done; returns at once if it is.
  void wait_prepared();
  /// What it has still imported after prepare(), for attach().
  Attachment attachment() const { return Attachment(imported_); }
  /// Tells it where the tensors lie. Does not wait; it answers Attached.
  void attach(const Attachment& attachment);
  /// Waits until it has given back the memory it has imported.
  void release_memory();

 private:
  RunnerProcess runner_;
  std::optional<TaskAt> told_;
  std::vector<uint64_t> imported_;  ///< Slab::memory, in its order
  BaselineCache* cache_ = nullptr;
  bool pending_ = false;
};

}  // namespace kbench::judge
