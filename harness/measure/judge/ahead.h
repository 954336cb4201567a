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
#include "harness/measure/judge/bench.h"
#include "harness/measure/judge/candidacy.h"
#include "harness/measure/judge/dismissed.h"
#include "harness/measure/judge/opponent.h"
#include "harness/measure/judge/runner_pool.h"
#include "harness/measure/judge/runner_process.h"
#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::judge {

/// A bench, and the opponent that has imported its memory.
struct ReadyBench {
  std::unique_ptr<Bench> bench;
  std::unique_ptr<Opponent> opponent;
};

/// A thread works here while a trial waits or takes samples, and while nothing comes; every call
/// that changes what it works on stops it first, after at most what it is at.
///
/// None of this is timed, and no time is taken without its pair: what an opening device takes from
/// a candidate it takes from the opponent too (docs/throughput.md has what was measured). On a
/// software device processors are what is measured: there nothing is done ahead but to start
/// runners, and who takes samples waits for them.
class Ahead {
 public:
  using NewOpponent = std::function<std::unique_ptr<Opponent>()>;
  /// Starts a runner. Of `dismissed`, which outlives this, it waits for the end.
  Ahead(const RunnerProcess::Options& options, NewOpponent new_opponent, Dismissed& dismissed);
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  /// Once, before anything else. `while_measuring`: whether the thread works while samples are
  /// taken.
  void use(vulkan::Device& device, bool while_measuring) {
    device_ = &device;
    while_measuring_ = while_measuring;
  }

  /// The candidacy that was begun for this request, or a new one. Throws RunnerFailure.
  std::unique_ptr<Candidacy> candidacy_of(const client::Request& request);
  /// A candidacy beside those that follow each other, for which nothing was made ready and nothing
  /// of what was is given up. Throws RunnerFailure.
  std::unique_ptr<Candidacy> candidacy_beside(const client::Request& request);
  /// The bench for a task, with its opponent, where it was made.
  std::optional<ReadyBench> bench_of(const TaskAt& key);
  /// Leaves what is needed no more: an opponent will be another bench's, which takes over what
  /// memory fits; without it a bench is given back when there is time.
  void leave(ReadyBench old);
  /// Gives back the memory of all benches here.
  void make_room();

  /// A trial goes on with its candidate, which it may have to wait for. `at`: the bench there is,
  /// which stays until the next call; may be null.
  void at_preparation(const client::Request& of, const Bench* at);
  /// A trial runs its candidate from now on: its bench stays until the next call. Memory is neither
  /// made nor given back until it takes samples, as what it allocates itself would wait for that.
  void at_runs(const client::Request& measured, const Bench& at);
  void at_samples();
  /// Nothing comes from the client for a moment; `at` may be null.
  void at_rest(const client::Request& last, const Bench* at);
  /// The thread is at nothing any more.
  void pause();
  /// pause(), and no device is being opened.
  void quiet();

 private:
  /// What is known of a request to come.
  struct Following {
    client::Request request;
    bool for_cuda = false;
  };
  void resume(const client::Request& now, const Bench* at,
              std::chrono::steady_clock::time_point memory_from);
  ReadyBench take_next();
  void work();
  bool step(bool memory_too);
  void plan();
  bool start_runners();
  bool start_understudy();
  bool begin_next();
  bool attach_one();
  bool give_back();
  bool give_back_understudies();
  bool make_bench();
  bool wait_for_device();
  bool opens(std::vector<ReadyBench>::iterator which, std::chrono::milliseconds most);
  void top_up_for(const client::Request& request);
  size_t runners() const;
  size_t begun_at_most() const;
  bool has_begun(const client::Request& request) const;
  const Following* first_not_begun() const;
  const Candidacy* first_without_bench() const;
  const Bench* bench_for(const TaskAt& key) const;
  std::string uuid() const;

  NewOpponent new_opponent_;
  Dismissed& dismissed_;
  vulkan::Device* device_ = nullptr;
  bool while_measuring_ = false;
  trial::SecretStream secret_{std::nullopt};
  RunnerPool pool_;
  std::deque<std::unique_ptr<Candidacy>> begun_;  ///< compiling or compiled
  /// Opponents that will be a bench's, some with the bench they had.
  std::vector<ReadyBench> understudies_;
  std::deque<ReadyBench> next_;  ///< of the tasks that follow, in their order
  std::optional<TaskAt> does_not_fit_;
  std::vector<std::unique_ptr<Bench>> left_;
  client::Request now_;
  const Bench* at_ = nullptr;
  bool planned_ = false;       ///< of `now_`, what follows here
  bool now_for_cuda_ = false;  ///< where nothing is known of what follows
  std::vector<Following> following_;

  std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  std::chrono::steady_clock::time_point memory_from_;  ///< when memory may be made, too
  bool going_ = false, working_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace kbench::judge
