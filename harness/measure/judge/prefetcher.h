// What later requests will need, made ready while a trial takes samples: runners with the device
// open, the next candidates compiled, the next task's memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/evaluate/client/protocol.h"
#include "harness/measure/judge/baseline_process.h"
#include "harness/measure/judge/candidate_build.h"
#include "harness/measure/judge/cuda_history.h"
#include "harness/measure/judge/retiring_runners.h"
#include "harness/measure/judge/runner_pool.h"
#include "harness/measure/judge/runner_process.h"
#include "harness/measure/judge/task_memory.h"
#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::judge {

/// A task's memory and the baseline process that has imported it.
struct ReadyTask {
  std::unique_ptr<TaskMemory> memory;
  std::unique_ptr<BaselineProcess> baseline;
};

/// A thread works here while a trial waits or takes samples, and between requests. Every call that
/// changes what it works on first waits for its current step to end.
///
/// None of this is timed, and no time is taken without its pair: what an opening device takes from
/// a candidate it takes from the baseline too (docs/throughput.md has what was measured). On a
/// software device processors are what is measured: there nothing is done ahead but to start
/// runners, and sampling waits until they are open.
class Prefetcher {
 public:
  using NewBaseline = std::function<std::unique_ptr<BaselineProcess>()>;
  /// Starts a runner. `retiring` must outlive this: no memory is made while it has runners that
  /// end.
  Prefetcher(const RunnerProcess::Options& options, NewBaseline new_baseline,
             RetiringRunners& retiring);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// Call once, before anything else. `while_measuring`: whether the thread works while samples are
  /// taken.
  void use(vulkan::Device& device, bool while_measuring) {
    device_ = &device;
    while_measuring_ = while_measuring;
  }

  /// The build that was begun for this request, or a new one. Throws RunnerFailure.
  std::unique_ptr<CandidateBuild> take_build(const client::EvaluateRequest& request);
  /// A build outside of the announced sequence, which leaves what was made ready as it is. Throws
  /// RunnerFailure.
  std::unique_ptr<CandidateBuild> separate_build(const client::EvaluateRequest& request);
  /// A task's memory with its baseline process, if it was made ahead.
  std::optional<ReadyTask> take_memory(const TaskAt& key);
  /// Takes what is not needed any more: the baseline process will serve another task and keep what
  /// memory fits; memory without one is given back when there is time.
  void leave(ReadyTask old);
  /// Gives back all task memory that is held here.
  void make_room();

  /// A trial goes on with its candidate, which it may have to wait for. `at`: the task memory there
  /// is, which stays until the next call; may be null.
  void at_preparation(const client::EvaluateRequest& of, const TaskMemory* at);
  /// A trial runs its candidate from now on: its task memory stays until the next call. Memory is
  /// neither made nor given back until it takes samples, as what it allocates itself would wait for
  /// that.
  void at_runs(const client::EvaluateRequest& measured, const TaskMemory& at);
  void at_samples();
  /// The client has sent nothing for a moment. `at` may be null.
  void at_rest(const client::EvaluateRequest& last, const TaskMemory* at);
  /// Waits until the thread is idle.
  void pause();
  /// The same, and until no runner is opening its device.
  void quiet();

 private:
  void resume(const client::EvaluateRequest& now, const TaskMemory* at,
              std::chrono::steady_clock::time_point memory_from);
  std::unique_ptr<CandidateBuild> new_build(std::unique_ptr<RunnerProcess> runner,
                                            const client::EvaluateRequest& request);
  ReadyTask take_next();
  void work();
  bool step(bool memory_too);
  void plan();
  bool start_runners();
  bool start_spare();
  bool begin_next();
  bool attach_one();
  bool give_back();
  bool give_back_spares();
  bool make_task_memory();
  bool wait_for_device();
  bool opens(std::vector<ReadyTask>::iterator which, std::chrono::milliseconds most);
  void top_up_for(const client::EvaluateRequest& request);
  size_t runners() const;
  size_t begun_at_most() const;
  bool has_begun(const client::EvaluateRequest& request) const;
  const client::EvaluateRequest* first_not_begun() const;
  const CandidateBuild* first_without_memory() const;
  const TaskMemory* memory_for(const TaskAt& key) const;
  std::string uuid() const;

  NewBaseline new_baseline_;
  RetiringRunners& retiring_;
  vulkan::Device* device_ = nullptr;
  bool while_measuring_ = false;
  trial::SecretStream secret_{std::nullopt};
  RunnerPool pool_;
  CudaHistory history_;
  std::deque<std::unique_ptr<CandidateBuild>> begun_;  ///< compiling or compiled
  /// Baseline processes that will be a task memory's, some with the task memory they had.
  std::vector<ReadyTask> spares_;
  std::deque<ReadyTask> next_;  ///< of the tasks that follow, in their order
  std::optional<TaskAt> does_not_fit_;
  std::vector<std::unique_ptr<TaskMemory>> left_;
  client::EvaluateRequest now_;
  const TaskMemory* at_ = nullptr;
  bool planned_ = false;  ///< `following_` has been made from `now_`
  std::vector<client::EvaluateRequest> following_;

  std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  std::chrono::steady_clock::time_point memory_from_;  ///< when memory may be made, too
  bool going_ = false, working_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace kbench::judge
