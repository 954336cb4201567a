// The baseline's runner: trusted, and kept from task to task.
#pragma once

#include <optional>
#include <string>

#include "harness/judge/runner_process.h"
#include "harness/judge/verified_notes.h"
#include "kbench/task.h"
#include "kbench/variables.h"

namespace kbench::judge {

/// A task at one size.
struct BenchKey {
  TaskId task;
  std::string preset;
  Variables overrides;
  bool operator==(const BenchKey&) const = default;
};

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
  /// Tells it to make the task's baseline, unless that is what it was told last. Does not wait.
  /// `seed`: of the inputs on which the baseline is held to the reference.
  void prepare(const BenchKey& key, uint64_t seed);
  /// Waits for what it was told; at once when it is done.
  void wait_prepared();
  /// Waits until it has given back the memory it has imported.
  void let_go();

 private:
  RunnerProcess runner_;
  std::optional<BenchKey> told_;
  Memory* memory_ = nullptr;
  bool pending_ = false;
};

}  // namespace kbench::judge
