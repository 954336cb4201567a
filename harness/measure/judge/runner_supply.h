// Runners, compiled candidates and task memory, made ready before they are asked for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/measure/judge/baseline_process.h"
#include "harness/measure/judge/candidate_build.h"
#include "harness/measure/judge/runner_process.h"
#include "harness/measure/judge/slab.h"
#include "harness/measure/judge/supply_policy.h"
#include "harness/measure/judge/task_memory.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::judge {

/// Owns all processes and all shared memory of a judge but the candidate's runner of a trial. A
/// thread does what next_step() says while a trial waits or takes samples, and between requests;
/// every call but enter() first waits for its current step to end. Calls come from one thread.
///
/// None of this is timed, and no time is taken without its pair: what an opening device takes from
/// a candidate it takes from the baseline too (docs/results/method.md has what was measured). On a
/// software device processors are what is measured: there nothing is done ahead but to start
/// runners, and sampling waits until they are open.
class RunnerSupply {
 public:
  /// Starts a baseline process and a runner. `notes` must outlive this; they are used from the
  /// first task on.
  RunnerSupply(const RunnerProcess::Options& options, VerifiedNotes& notes);
  ~RunnerSupply();
  RunnerSupply(const RunnerSupply&) = delete;
  RunnerSupply& operator=(const RunnerSupply&) = delete;

  struct Rules {
    bool while_measuring = false;  ///< the thread works while samples are taken
    bool hands_on = false;         ///< runners serve several candidates of one author
    /// What one process has compiled of kbench's own the others find: few need memory then.
    bool shares_pipelines = false;
  };
  /// A GPU's: all; a software device's: none.
  static Rules rules_of(const vulkan::DeviceSnapshot& device);
  /// Call once, before anything else. Both must outlive this.
  void use(vulkan::Device& device, SlabStore& store, const Rules& rules);

  /// The candidate of this request in a runner: begun before, or new. Throws RunnerFailure.
  std::unique_ptr<CandidateBuild> take(const EvaluateRequest& request);
  /// One outside of the announced sequence, in a fresh runner, which leaves what was made ready as
  /// it is. Throws RunnerFailure.
  std::unique_ptr<CandidateBuild> take_beside(const EvaluateRequest& request);
  /// Keeps one that compiles on until its request comes again, which take() then finds. Only while
  /// may_park(); one that is not asked for among the next requests is dropped.
  void park(std::unique_ptr<CandidateBuild> build);
  bool may_park() const { return parked_.size() < kMostLeft; }
  /// These come before what the client has announced, each after the one before it; an empty list:
  /// nothing does.
  void ask_first(std::vector<EvaluateRequest> requests);
  bool works_ahead() const { return rules_.while_measuring; }
  /// After its trial. `clean`: the runner may serve its author's next candidate.
  void put_back(std::unique_ptr<CandidateBuild> build, bool clean);

  /// The present task's memory; null before the first, and after drop_baseline().
  TaskMemory* task() const { return task_.memory.get(); }
  BaselineProcess& baseline() { return *task_.baseline; }
  /// Waits for the baseline process, or starts another after drop_baseline(). Throws RunnerFailure.
  void ready_baseline();
  /// It has failed, or may have: the next trial has another, and makes its task anew.
  void drop_baseline();
  /// Makes the candidate's task the present one if its memory was made ahead. Returns whether it
  /// was.
  bool take_task(const CandidateBuild& build);
  /// The same where it was not. Throws RunnerFailure if the baseline process fails, and Error
  /// (kOutOfMemory) if the task does not fit beside what is there: see make_room().
  void make_task(const CandidateBuild& build);
  /// Gives back memory that the present task does not need: so many bytes and the reserve, if there
  /// are as many, and not much more, as unmapping it and making it again take time. Candidates that
  /// are compiled ahead stay; where `bytes` is kAllBytes, those that hold memory are begun anew.
  /// The present candidate's runner may hold some of it, too: CandidateBuild::release_memory().
  void make_room(uint64_t bytes = kAllBytes);
  /// Then waits until so much is free: drivers take back what ended processes held some seconds
  /// after they have ended. Returns what is free.
  uint64_t wait_for_memory(uint64_t bytes);
  /// make_room(), and ends all processes that were started for candidates to come; starts none
  /// until it is told otherwise. (PyTorch holds a gigabyte of the device in each.)
  void stand_alone(bool alone);

  /// The trial of this request comes to a phase, or there is no trial.
  void enter(Phase phase, const EvaluateRequest& request);
  /// Waits until the thread is idle; enter() lets it go on.
  void pause();
  /// Baseline processes that have mapped memory of tasks; no call may be under way.
  size_t mapping_memory() const;
  /// The same as pause(), and until no runner is opening its device.
  void quiet();

 private:
  /// A task's memory and the baseline process that has imported it.
  struct ReadyTask {
    std::unique_ptr<TaskMemory> memory;
    std::unique_ptr<BaselineProcess> baseline;
  };
  /// A candidate that compiles long.
  struct Parked {
    std::unique_ptr<CandidateBuild> build;
    uint64_t since = 0;  ///< value of requests_ when it was last asked for
  };
  using Clock = std::chrono::steady_clock;

  void plan(const EvaluateRequest& request);
  void work();
  bool do_step();
  SupplyState state();
  size_t place_of(const CandidateBuild& build) const;
  ComingCandidate view(const EvaluateRequest& request) const;
  void start_runner(runner::RunnerKind kind);
  void top_up(size_t runners, runner::RunnerKind kind);
  void begin_candidate(const EvaluateRequest& request, size_t runner);
  void release_dropped();
  void make_baseline_ahead();
  void make_task_ahead();
  void attach_one();
  void end_stopped();
  void end(std::unique_ptr<RunnerProcess> runner);  ///< does not wait: `ending_`
  void wait_for_device();
  void leave(ReadyTask old);
  size_t most_tasks() const;
  size_t most_baselines() const;
  std::unique_ptr<RunnerProcess> take_runner(size_t index);
  std::unique_ptr<RunnerProcess> take_runner_for(const EvaluateRequest& request, bool fresh);
  std::unique_ptr<CandidateBuild> take_parked(const EvaluateRequest& request);
  std::unique_ptr<CandidateBuild> new_build(std::unique_ptr<RunnerProcess> runner,
                                            const EvaluateRequest& request);
  std::unique_ptr<BaselineProcess> new_baseline();
  using Spare = std::vector<std::unique_ptr<BaselineProcess>>::iterator;
  Spare spare_for(const TaskAt& key);
  bool leaves_pipelines(BaselineProcess& made, const TaskAt& key);
  std::optional<Spare> spare_to_map(const TaskAt& key);
  bool is_for_none(const BaselineProcess& spare) const;
  bool lacks_memory(const CandidateBuild& build) const;
  std::vector<TaskAt> without_baseline();
  CandidateBuild* first_without_memory();
  CandidateBuild* first_unattached();
  const TaskMemory* memory_for(const TaskAt& key) const;
  bool is_open(RunnerProcess& runner, std::chrono::milliseconds most);
  bool has_begun(const EvaluateRequest& request) const;
  std::string uuid() const { return vulkan::to_string(device_->snapshot().device_uuid); }

  RunnerProcess::Options options_;
  VerifiedNotes& notes_;
  vulkan::Device* device_ = nullptr;
  SlabStore* store_ = nullptr;
  Rules rules_;
  bool alone_ = false;  ///< stand_alone()
  trial::SecretStream secret_{std::nullopt};
  NeedsHistory history_;
  ReadyTask task_;               ///< the present one
  std::deque<ReadyTask> ahead_;  ///< of tasks that follow
  /// Without a task's memory; some make the baseline of a task that follows.
  std::vector<std::unique_ptr<BaselineProcess>> spares_;
  std::vector<std::unique_ptr<RunnerProcess>> waiting_;  ///< for a candidate
  std::deque<std::unique_ptr<CandidateBuild>>
      begun_;  ///< compiling or compiled, in the order of coming_
  std::vector<Parked> parked_;
  uint64_t requests_ = 0;                   ///< taken so far
  std::string measured_author_;             ///< of the runner that the trial has; empty: nobody's
  std::unique_ptr<RunnerProcess> stopped_;  ///< of a judged candidate, to be ended
  /// NVIDIA's driver serves no other process while one ends, for 35 ms and 10 ms more for each
  /// gigabyte that it had imported.
  std::vector<std::unique_ptr<RunnerProcess>> ending_;
  EvaluateRequest now_;
  std::vector<EvaluateRequest> coming_;     ///< after now_, in order
  std::vector<EvaluateRequest> first_;      ///< ask_first()
  std::vector<EvaluateRequest> announced_;  ///< by the client, after first_
  std::optional<TaskAt> does_not_fit_;

  std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  Phase phase_ = Phase::preparing;
  Clock::time_point memory_from_;  ///< when memory may be made, too
  bool going_ = false, working_ = false, ending_thread_ = false;
  std::thread thread_;
};

}  // namespace kbench::judge
