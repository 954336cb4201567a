// One trial: a candidate from its files to a verdict, against the baseline, on one device.
// docs/measurement.md explains each step and the attack it answers.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/measure/judge/candidate_build.h"
#include "harness/measure/judge/checks.h"
#include "harness/measure/judge/failure_verdict.h"
#include "harness/measure/judge/hand_over.h"
#include "harness/measure/judge/opponent.h"
#include "harness/measure/judge/runner_process.h"
#include "harness/measure/judge/runner_supply.h"
#include "harness/measure/judge/sample.h"
#include "harness/measure/judge/task_memory.h"
#include "harness/measure/judge_protocol/findings.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/process/child_process.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/process/host_lock.h"
#include "harness/measure/trial/clock_watch.h"
#include "harness/measure/trial/kernels.h"
#include "harness/measure/trial/sampling.h"
#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/baseline.h"
#include "kbench/evaluate.h"
#include "kbench/result.h"

namespace kbench::judge {

/// What a judge passes to its trials; all of it outlives them.
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

/// What became of a trial, beside its result.
struct TrialEnd {
  bool baseline_failed = false;       ///< it must be started anew
  bool infrastructure_fault = false;  ///< a runner was killed from outside, or lacked what it needs
  bool times_in_doubt = false;        ///< the judge's clock contradicts the device's times
  bool device_in_doubt = false;       ///< a run hung, crashed or lost the device
  /// PyTorch had too little memory, beside what was held for candidates to come.
  bool lacked_memory = false;
  runner::RunnerKind launched_by = runner::RunnerKind::vulkan;
  uint64_t stack_bytes = 0;  ///< of the candidate's kernels (runner::Built)
  Findings findings = {};    ///< of a request that asked to look closer
};

/// Use: construct, run(). Every step returns whether to go on; when it returns false the result's
/// verdict and message say why.
class Trial {
 public:
  /// `on_progress` may be empty.
  Trial(const TrialContext& context, CandidateBuild& build,
        std::function<void(const char*)> on_stage,
        std::function<void(const Progress&)> on_progress);

  /// Never throws for what candidate or baseline do; throws StillCompiling, and Error for
  /// what is wrong with the request's options (no such preset, variable, recorded time) and for the
  /// judge's own device.
  TrialEnd run(Result& result);

 private:
  void steps();
  void check();
  bool load();
  void make_task();
  /// Gives back what neither the task nor the candidate needs.
  void give_back();
  /// The same, and waits until so much is free. Returns what is.
  uint64_t make_room(uint64_t bytes);
  bool build();
  // trial_memory.cc
  bool alone() const;
  TaskMemory* task() const;
  bool has_task_memory() const;
  void enter(Phase phase);
  bool task_fits();
  bool fits();
  void with_room(uint64_t bytes, const std::function<void()>& make);
  void leave_room_for_torch();
  void allocate();
  // trial.cc
  void take_device();
  void wait_turn();
  std::vector<BracketedRun> hand_overs(int runs);
  void try_lane();
  bool set_up();
  std::optional<Finding> set_up_again(trial::Contents contents);
  /// Says what outputs and temporaries held, where wrong values may come of that.
  static void tell_contents(trial::Contents contents, Finding& finding);
  void make_checks();
  /// The candidate's times are not the device's but those of the runner's clock around its process.
  bool from_outside() const { return built_.launched_by == runner::RunnerKind::torch; }
  bool choose_calls();
  /// Something other than what computes the truth is timed: PyTorch where that is asked for; else,
  /// in a task of halves, kbench's own kernels in the task's type, as the truth is computed in
  /// float32.
  bool with_opponent() const {
    const bool other = question_.opponent.is_pytorch() || is_half(question_.dtype);
    return other && !question_.recorded && !looks_closer();
  }
  bool looks_closer() const {
    return request_.values_only || request_.inspect_seed || request_.profile_runs;
  }
  void prepare_opponent();
  void attach_opponent();
  void attach_opponent(const std::string& way);
  double time_opponent(const std::string& way, int runs);
  bool works(const std::string& way, const std::function<void()>& step);
  void choose_opponent();
  /// For the candidate's answer in this stage.
  TimeLimit limit() const;
  double run_seconds() const { return limit().seconds; }
  bool warm_up();
  std::optional<Finding> take(const trial::Roles& roles, bool first);
  Finding explained(Finding wrong);
  bool sample();
  bool take_samples(trial::CallSampling& sampling, ClockRule& clock, int calls);
  bool tell_progress(const trial::CallSampling& sampling, double seconds) const;
  void tell_how_timed(const trial::CallSampling& sampling, int calls);
  std::optional<std::string> impossible();
  void measure_roofline();
  void find_own_share();
  void report();
  // Instead of warm_up() and what follows (trial_findings.cc).
  void make_checks_with_redzones();
  void refuse_or_pass(std::optional<Finding> finding);
  void inspect();
  void look_at_values(uint64_t seed);
  void profile();
  std::vector<double> step_times(RunnerProcess& runner, double seconds);
  SampleParts parts();
  /// For one run of the baseline: what the whole trial may take.
  double baseline_seconds() const;

  /// May be another process after load(): see NeedsHistory.
  RunnerProcess& candidate() { return build_.runner(); }

  bool refuse(Verdict verdict, std::string message);
  bool refuse(const runner::Refused& refused);
  bool refuse(Finding finding);
  bool refuse_late();
  void tell_first_release();
  TrialEnd lack_memory(const std::string& message);
  void stage(const char* name);
  void lap(const char* name);
  void lap_stage();
  std::vector<Watched> watched(bool with_setup) const;
  CheckRule rule() const;

  TrialContext context_;
  CandidateBuild& build_;
  const EvaluateRequest& request_;
  const Question& question_;
  std::function<void(const char*)> on_stage_;
  std::function<void(const Progress&)> on_progress_;
  Result* result_ = nullptr;
  TrialEnd end_;
  bool at_baseline_ = false;  ///< the trial waits for the baseline process, or the opponent
  trial::SecretStream secret_;
  process::Deadline& deadline_;  ///< for all of it
  std::chrono::steady_clock::time_point lap_ = std::chrono::steady_clock::now();
  std::string stage_ = "load";
  runner::Built built_;
  std::vector<BracketedRun> lane_;  ///< hand-overs for nothing, where the lane is one of its own
  /// Of a run of the candidate alone, which has no baseline.
  std::unique_ptr<TaskMemory> own_task_;
  CandidateMemory memory_;
  std::optional<Redzones> redzones_;
  std::optional<Sampler> sampler_;
  double opponent_ns_ = 0;              ///< of one call, before any is captured
  OpponentRunner* opponent_ = nullptr;  ///< what is timed in the baseline's place, if anything
  /// The ways that it may be timed in, one at last, and what is said of those that cannot be.
  std::vector<std::string> ways_, left_out_;
  std::optional<Checks> checks_;
  double max_error_ = 0;
  double candidate_ms_at_most_ = 0;  ///< by the interval of its median
};

}  // namespace kbench::judge
