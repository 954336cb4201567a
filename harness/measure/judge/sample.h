// Paired samples: new inputs, random values in the outputs, both runners in random order, then the
// checks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/judge/checks.h"
#include "harness/measure/judge/clock_rule.h"
#include "harness/measure/judge/runner_process.h"
#include "harness/measure/judge/slab.h"
#include "harness/measure/judge/task_memory.h"
#include "harness/measure/process/pausable_processes.h"
#include "harness/measure/runner/program.h"
#include "harness/measure/runner/torch/call_tensors.h"
#include "harness/measure/trial/kernels.h"
#include "harness/measure/trial/roles.h"
#include "harness/measure/trial/sampling.h"
#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/commands.h"

namespace kbench::judge {

/// A candidate's temporaries and data, by index in the runner's list.
struct CandidateMemory {
  std::vector<runner::Wanted> wanted;
  Slab slab;
};

/// Everything samples work with; all outlive it.
struct SampleParts {
  vulkan::Device& device;
  vulkan::Commands& commands;  ///< used by the sampler alone while it lives
  trial::Kernels& kernels;
  trial::SecretStream& secret;
  const TaskMemory& task_memory;
  const CandidateMemory& memory;
  RunnerProcess& baseline;
  RunnerProcess& candidate;
  process::PausableProcesses& pausable;  ///< paused during runs
  double baseline_seconds;               ///< for one run of it
};

/// Takes samples of one trial, one after another.
class Sampler {
 public:
  explicit Sampler(const SampleParts& parts);

  /// Draws parameters. `inputs_too`: something runs before the first sample draws inputs, and must
  /// not find an earlier trial's.
  void draw_task(bool inputs_too);
  /// Uploads a candidate's data; once.
  void upload_data();
  /// Fills temporaries: those that setup writes, or the others, and operators' scratch.
  void fill_temporaries(vulkan::Commands& commands, bool of_setup, float scale);

  /// Fills outputs and all temporaries.
  void fill_all(vulkan::Commands& commands);

  /// One sample. Redzones, too, hold other values in each. `first`: hashes are taken of everything,
  /// not of inputs alone. A candidate's run is given `seconds`. The finding is the first thing
  /// wrong with the candidate, if any; throws RunnerFailure with `at_candidate()` telling whose it
  /// is.
  std::optional<Finding> take(Checks& checks, const trial::Roles& roles, bool first,
                              double seconds);
  /// From the next sample on the candidate makes so many calls in one run, each on inputs of its
  /// own and each checked; the baseline runs once on the inputs of each. Of the "torch" lane.
  void set_calls(int calls) { calls_ = calls; }
  /// The lane is timed from outside, by a process that may leave work on the device: the baseline
  /// runs once the device is idle.
  void expect_leftovers() { leftovers_ = true; }
  /// Whether the candidate's last run was replayed as a CUDA graph.
  bool captured() const { return captured_; }
  /// One run of the candidate alone, by the same hand-over. A candidate that the validation layer
  /// objects to arrives as a runner::Refused that is thrown.
  BracketedRun run_candidate(const runner::Pass& pass, double seconds);
  /// Hands the device over to the candidate's lane and runs nothing of the candidate.
  BracketedRun hand_over(double seconds);
  /// Another run of the candidate on the last sample's inputs, over other values in its outputs and
  /// temporaries; checked as a sample is.
  std::optional<Finding> run_again(Checks& checks, const runner::Pass& pass, double seconds);
  /// Redzones and read-only tensors after a run.
  std::optional<Finding> guards(Checks& checks);
  bool at_candidate() const { return at_candidate_; }

  /// Of the last sample.
  const BracketedRun& baseline_run() const { return baseline_run_; }
  const BracketedRun& candidate_run() const { return candidate_run_; }
  vulkan::Commands& commands() { return commands_; }

 private:
  void draw(int value) { draw(value, parts_.secret.next()); }
  void draw(int value, uint64_t key) { draw(value, key, parts_.task_memory.given(value)); }
  void draw(int value, uint64_t key, const vulkan::Region& to);
  std::optional<Finding> take_calls(Checks& checks, double seconds);
  /// Into a call's own memory; that of the first is what the baseline reads.
  void draw_inputs(const std::vector<uint64_t>& keys, int call);
  std::vector<OutputCheck> outputs_of(int call) const;
  std::optional<Finding> wait_idle();
  void prepare(Checks& checks, bool first);
  void fill_outputs(vulkan::Commands& commands);
  void fill_output(vulkan::Commands& commands, OutputCheck& output);
  static void fit_fill(const Checks& checks, size_t i, OutputCheck& output);
  std::optional<Finding> check_outputs(Checks& checks);
  std::optional<Finding> run_candidate_checked(Checks& checks, const runner::Pass& pass,
                                               double seconds);
  void run_baseline(Checks& checks);
  BracketedRun run(RunnerProcess& runner, const runner::Pass& pass, double seconds,
                   bool empty = false, int calls = 1);

  SampleParts parts_;
  vulkan::Commands& commands_;
  runner::CallTensors tensors_;
  std::vector<OutputCheck> outputs_;
  bool at_candidate_ = false, leftovers_ = false, captured_ = false;
  int calls_ = 1;
  int busy_ = 0;  ///< times that the device was busy when the candidate had said that it was done
  BracketedRun baseline_run_, candidate_run_;
};

/// The limit of kbench's own work on the device: generous, as software devices compile on first
/// use.
inline constexpr double kHarnessSeconds = 300;
/// What the judge waits beyond a runner's own limit, for submission and the answer.
inline constexpr double kAnswerSeconds = 5;

}  // namespace kbench::judge
