// The baseline's runner: trusted, and kept from task to task.
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

/// Every call throws RunnerFailure where the process fails; it is of no more use then.
class Opponent {
 public:
  /// Starts it, and has it open the device.
  explicit Opponent(const RunnerProcess::Options& options) : runner_(Role::opponent, options) {
    runner_.begin_open();
  }

  RunnerProcess& runner() { return runner_; }
  /// What has been held to the reference already, and where compiled pipelines are kept and for
  /// what; both must outlive this.
  struct Memory {
    VerifiedNotes notes;
    std::string folder, subject;
  };
  void use(Memory& memory) { memory_ = &memory; }
  /// Tells it to make the task's baseline, unless that is what it was told last, and to give back
  /// what it has imported, but for the memory of `kept` (Slab::memory). Does not wait. `seed`: of
  /// the inputs on which the baseline is held to the reference.
  void prepare(const TaskAt& key, uint64_t seed, const std::vector<uint64_t>& kept = {});
  /// Waits for what it was told; at once when it is done.
  void wait_prepared();
  /// What it has still imported after prepare(), for attach().
  Attachment attachment() const { return Attachment(imported_); }
  /// Tells it where everything lies. Does not wait; it answers Attached.
  void attach(const Attachment& attachment);
  /// Waits until it has given back the memory it has imported.
  void let_go();

 private:
  RunnerProcess runner_;
  std::optional<TaskAt> told_;
  std::vector<uint64_t> imported_;  ///< Slab::memory, in its order
  Memory* memory_ = nullptr;
  bool pending_ = false;
};

}  // namespace kbench::judge
