// A trial up to its first sample: the candidate is loaded and built, task and candidate have
// memory, it has the device to itself and is set up. Below are the uses of such a trial.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "harness/measure/judge/candidate_build.h"
#include "harness/measure/judge/checks.h"
#include "harness/measure/judge/failure_verdict.h"
#include "harness/measure/judge/hand_over.h"
#include "harness/measure/judge/lane.h"
#include "harness/measure/judge/opponent.h"
#include "harness/measure/judge/runner_process.h"
#include "harness/measure/judge/runner_supply.h"
#include "harness/measure/judge/sample.h"
#include "harness/measure/judge/task_memory.h"
#include "harness/measure/judge/trial_opponent.h"
#include "harness/measure/judge/trial_report.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/process/child_process.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/process/host_lock.h"
#include "harness/measure/trial/clock_watch.h"
#include "harness/measure/trial/kernels.h"
#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/baseline.h"
#include "kbench/evaluate.h"

namespace kbench::judge {

/// The parts of a judge that its trials use; all of them outlive the trials.
struct TrialContext {
  vulkan::Device& device;
  Workspace& workspace;
  trial::Kernels& kernels;
  std::future<void>& kernels_prepared;  ///< waited for before `kernels` are first used
  SlabStore& store;
  RunnerSupply& supply;
  process::PausableProcesses& pausable;  ///< paused while a run is timed
  /// The device's lock. A trial takes it before it measures, or would disturb what others measure;
  /// the judge releases it.
  process::HostLock& lock;
  std::stop_token cancelled;  ///< ends waiting for it
  trial::ClockWatch& clock;
  Opponents& opponents;
  HandOver& hand_over;
  std::optional<Roofline>& roofline;  ///< of the device; measured when it is first needed
  process::Deadline& total;           ///< of all trials of the request
  /// Once requested, others wait: what compiles long is left to it (StillCompiling).
  std::stop_token others = {};
};

/// Every step returns whether to go on; when it returns false the report's verdict says why. Each
/// throws RunnerFailure, and runner::Refused for what a runner says of the candidate.
class PreparedTrial {
 public:
  PreparedTrial(const TrialContext& context, CandidateBuild& build, TrialReport& report);

  bool load();
  /// For a request that only asks for it: everything but running it.
  void check();
  /// All that comes before the first sample.
  bool prepare();

  // The parts that are prepared.

  const TrialContext& context() const { return context_; }
  TrialReport& report() { return report_; }
  const EvaluateRequest& request() const { return request_; }
  const Question& question() const { return request_.question; }
  const TaskAt& key() const { return build_.key(); }
  CandidateBuild& build() { return build_; }
  /// May be another process after load(): see NeedsHistory.
  RunnerProcess& candidate() { return build_.runner(); }
  const runner::Built& built() const { return built_; }
  Lane lane() const { return Lane(built_.launched_by); }
  const CandidateMemory& memory() const { return memory_; }
  TaskMemory* task() const;
  Sampler& sampler() { return *sampler_; }
  bool has_sampler() const { return sampler_.has_value(); }
  TrialOpponent& opponent() { return opponent_; }
  process::Deadline& deadline() { return deadline_; }  ///< for all of it
  trial::SecretStream& secret() { return secret_; }
  /// The seeds of the draws, where the CPU computes the right values for them.
  const std::optional<InspectedDraws>& known_draws() const { return known_draws_; }
  const std::vector<BracketedRun>& hand_overs() const { return hand_overs_; }
  SampleParts parts();
  bool software() const { return context_.device.snapshot().software(); }

  /// Tells the supply what the trial is at.
  void enter(Phase phase);
  /// One run of setup, over such contents of the temporaries. Checks made before do not hold after
  /// it.
  std::optional<Finding> set_up_again(trial::Contents contents);
  void make_checks(std::optional<Checks>& checks);
  /// The same, with redzones recorded.
  void make_checks_with_redzones(std::optional<Checks>& checks);
  CheckRule rule() const;
  /// For the candidate's answer in this stage.
  TimeLimit limit() const;
  double run_seconds() const { return limit().seconds; }
  /// For one run of the baseline: what the whole trial may take.
  double baseline_seconds() const;
  /// The finding becomes the verdict.
  bool refuse(Finding finding);
  /// Does a step that may fail by the baseline's or the opponent's doing, for which the trial
  /// waits.
  template <class Step>
  void at_baseline(Step step) {
    at_baseline_ = true;
    step();
    at_baseline_ = false;
  }
  bool waits_for_baseline() const { return at_baseline_; }

 private:
  void make_task();
  bool build_candidate();
  void prepare_opponent();
  void take_device();
  void wait_turn();
  void try_lane();
  std::vector<BracketedRun> hand_overs(int runs);
  bool set_up();
  std::vector<Watched> watched(bool with_setup) const;
  // prepared_memory.cc
  bool alone() const;
  bool has_task_memory() const;
  bool task_fits();
  bool fits();
  /// Gives back so much of what neither the task nor the candidate needs.
  void give_back(uint64_t bytes);
  /// The same, and all of it if need be; waits until so much is free. Returns what is.
  uint64_t make_room(uint64_t bytes);
  void with_room(uint64_t bytes, const std::function<void()>& make);
  void leave_room_for_torch();
  void allocate();
  void attach_opponent();
  void learn_clock();

  const TrialContext context_;
  CandidateBuild& build_;
  TrialReport& report_;
  const EvaluateRequest& request_;
  process::Deadline& deadline_;
  bool at_baseline_ = false;
  trial::SecretStream secret_;
  std::optional<InspectedDraws> known_draws_;
  runner::Built built_;
  std::vector<BracketedRun> hand_overs_;  ///< for nothing, where the lane hands over
  std::unique_ptr<TaskMemory> own_task_;  ///< of a run that the judge added, without a baseline
  CandidateMemory memory_;
  std::optional<Redzones> redzones_;
  std::optional<Sampler> sampler_;
  TrialOpponent opponent_;
};

// The uses of a trial that is prepared. Each fills in the report's verdict, and throws as
// PreparedTrial does.

/// A verified warm-up, paired samples until the interval is narrow enough, and what may be said of
/// the times. `on_progress` may be empty.
void measure(PreparedTrial& trial, const std::function<void(const Progress&)>& on_progress);
/// The times of the candidate's steps, and of the baseline's.
void profile(PreparedTrial& trial);
/// Runs it on the request's draws, and receives what it wrote (judge/inspect.h).
void look_at_outputs(PreparedTrial& trial);
/// Holds its outputs to the CPU's reference, over each kind of contents of its memory.
void look_at_values(PreparedTrial& trial);

/// Finds the share of its time that a candidate that passed spends in kernels of its own, where
/// others have a part in it, and names those; a module's by its process's word. A profile that
/// fails leaves the share unset.
void find_own_share(PreparedTrial& trial);

}  // namespace kbench::judge
