// A queue of experiments for one or several devices: the one feeder of judges. Each device has a
// thread and a judge. While one candidate is measured, the next ones for that device are compiled.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/queue/backlog.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/error.h"
#include "kbench/result.h"

namespace kbench::queue {

/// Evaluates candidates on one device. Used by one thread at a time.
class QueueJudge {
 public:
  virtual ~QueueJudge() = default;
  /// Throws Error if the request's options are wrong, and Cancelled soon after `stop` is requested.
  /// Every other failure is a result.
  virtual Result run(const judge::EvaluateRequest& request,
                     const std::function<void(const char*)>& on_stage,
                     const std::stop_token& stop) = 0;
  /// Prepares for the next run. Returns "", or why the device is lost for good.
  virtual std::string trouble() = 0;
  /// The device. Throws Error if it cannot be used.
  virtual const vulkan::DeviceSnapshot& snapshot() = 0;
  /// How often a judge process took the place of one that had ended. Any thread may ask.
  virtual uint64_t restarts() const { return 0; }
};

/// QueueJudge::trouble() of a judge process: starts one if none is running.
std::string trouble_with(client::JudgeClient& client);

/// A judge process (client::JudgeClient), which starts on first use.
std::unique_ptr<QueueJudge> judge_of(const std::string& program, const std::string& device,
                                     bool validate);

/// The outcome of an experiment: a result, an error, or cancelled.
struct Outcome {
  std::optional<Result> result;
  std::optional<Error> error;  ///< the request's options are wrong
  bool cancelled() const { return !result && !error; }
};

struct Job {
  judge::EvaluateRequest request = {};  ///< the queue sets `more` and `next_files`
  std::string group = {};               ///< jobs of one task at one size should share a group
  std::optional<size_t> device = {};    ///< index into the judges; nothing: any
  /// Also on a CPU device it is left to its compiler, where that takes long, while jobs of other
  /// authors wait. Not where its times matter more than theirs: there a compiler disturbs what is
  /// measured. (On a GPU what compiles long is left while any other job waits.)
  bool yields = false;
  /// Called by the thread that evaluates.
  std::function<void(const char* stage)> on_stage = {};
  /// Called once, by any thread, also inside add() and cancel(), and concurrently with other jobs'.
  /// Must not throw.
  std::function<void(Outcome)> on_outcome = {};
  /// Replaces the evaluation: the device's thread calls it with its judge and with the request,
  /// which says what follows. May throw Error, and Cancelled. What it returns or throws counts as
  /// an evaluation's outcome does: if the device is found to be lost, it is called once more, on
  /// another device.
  std::function<Result(QueueJudge&, const judge::EvaluateRequest&)> work = {};
};

/// Thread-safe. A job that was left to its compiler (StillCompiling) is asked for again
/// after each other one. A device that is lost, or whose judge does not start any more, is
/// excluded; its candidate is tried once more on another device. If no device is left, all other
/// jobs end as harness_error.
class Queue {
 public:
  /// Throws kInternal if a thread cannot be started.
  explicit Queue(std::vector<std::unique_ptr<QueueJudge>> judges);
  /// Cancels all jobs that are left.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  uint64_t add(Job job);
  /// Adds several at once, so that the first already know which ones follow. Ids are in the same
  /// order.
  std::vector<uint64_t> add_all(std::vector<Job> jobs);
  /// Cancels a job: at once if it waits, soon if it runs. False if its outcome was delivered; an
  /// outcome that is on its way may still be delivered.
  bool cancel(uint64_t id);
  /// Cancels the jobs that wait; those that run go on.
  void cancel_waiting();
  /// Nothing is to be expected after the jobs that wait, so that no runner is started in advance.
  void close();
  /// Blocks until every job has had its outcome.
  void wait();

  /// Jobs that have no outcome yet: all, and those that wait for a device.
  struct Load {
    size_t jobs = 0, waiting = 0;
  };
  Load load();
  /// How often judges of all devices were started again.
  uint64_t restarts() const;
  size_t devices_left();
  /// Why a device was excluded; empty if it was not.
  std::string trouble_of(size_t device);

 private:
  struct Entry {
    Job job;
    std::string options;           ///< jobs with equal options may be compiled ahead
    std::optional<Outcome> first;  ///< of the try on a lost device
    std::stop_source stop;
    bool waits = true;  ///< no judge is at it, or one that only compiles it
  };
  using Lock = std::unique_lock<std::mutex>;

  void end();
  void work(size_t device);
  bool run(size_t device, uint64_t id, Lock& lock);
  judge::EvaluateRequest request_for(size_t device, const Entry& entry);
  void leave(size_t device, uint64_t id, bool begun, Lock& lock);
  bool take_compiling(uint64_t id);
  std::optional<uint64_t> next(size_t device, bool compiling);
  void lose(size_t device, const std::string& why, Lock& lock);
  Waiting waiting_of(uint64_t id, const Entry& entry) const;
  std::optional<Outcome> ending(const Entry& entry) const;
  void deliver(uint64_t id, Outcome outcome, Lock& lock);

  std::vector<std::unique_ptr<QueueJudge>> judges_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Backlog backlog_;
  std::vector<std::deque<uint64_t>> compiling_;  ///< by device: jobs that it was left to compile
  std::vector<bool> on_gpu_;                     ///< by device
  std::map<uint64_t, std::shared_ptr<Entry>> entries_;  ///< jobs without an outcome yet
  size_t delivering_ = 0;
  std::vector<std::string> troubles_;
  uint64_t last_id_ = 0;
  bool closed_ = false, ending_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace kbench::queue
