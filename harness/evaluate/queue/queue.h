// Many experiments, several devices, one queue: each device has a thread and a judge, and while one
// candidate is measured there, those it will get next are compiled.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "harness/evaluate/client/protocol.h"
#include "harness/evaluate/queue/backlog.h"
#include "harness/evaluate/queue/judge.h"
#include "kbench/error.h"
#include "kbench/result.h"

namespace kbench::queue {

/// What became of an experiment: one of three.
struct Outcome {
  std::optional<Result> result;
  std::optional<Error> error;  ///< what is wrong with the request's options
  bool cancelled() const { return !result && !error; }
};

struct Job {
  client::Request request = {};       ///< `more` and `next_files` are for the queue to say
  std::string group = {};             ///< those of one task at one size are best kept together
  std::optional<size_t> device = {};  ///< by its place among the judges; nothing: any
  /// Called in the thread that evaluates.
  std::function<void(const char* stage)> on_stage = {};
  /// Called once, in any thread, also within add() and cancel(), several jobs' at once. Must not
  /// throw.
  std::function<void(Outcome)> on_outcome = {};
};

/// Thread-safe. A device that is lost, or whose judge cannot be started any more, is taken out; its
/// candidate is tried once on another, and the rest goes on there. With none left the rest ends as
/// harness_error.
class Queue {
 public:
  /// Throws kInternal where there is no thread to be had.
  explicit Queue(std::vector<std::unique_ptr<Judge>> judges);
  /// Cancels what is left.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  uint64_t add(Job job);
  /// Those that begin at once know what follows them, too. Ids in the same order.
  std::vector<uint64_t> add_all(std::vector<Job> jobs);
  /// What waits is gone at once, what is running soon. False when there is no outcome to come any
  /// more; one that is just arriving may win.
  bool cancel(uint64_t id);
  /// Nothing will follow what has been added: no runner need be started for it.
  void close();
  /// Until everything added has had its outcome.
  void wait();

  size_t devices_left();
  /// Why a device was taken out; empty while it was not.
  std::string trouble_of(size_t device);

 private:
  struct Entry {
    Job job;
    std::string options;           ///< what must be equal for a candidate to be compiled ahead
    std::optional<Outcome> first;  ///< of a try on a device that was lost
    std::stop_source stop;
  };
  using Lock = std::unique_lock<std::mutex>;

  void end();
  void work(size_t device);
  void run(size_t device, uint64_t id, Lock& lock);
  client::Request request_for(size_t device, const Entry& entry);
  void lose(size_t device, const std::string& why, Lock& lock);
  Waiting waiting_of(uint64_t id, const Entry& entry) const;
  std::optional<Outcome> ending(const Entry& entry) const;
  void deliver(uint64_t id, Outcome outcome, Lock& lock);

  std::vector<std::unique_ptr<Judge>> judges_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Backlog backlog_;
  std::map<uint64_t, std::shared_ptr<Entry>> entries_;  ///< with an outcome to come
  size_t delivering_ = 0;
  std::vector<std::string> troubles_;
  uint64_t last_id_ = 0;
  bool closed_ = false, ending_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace kbench::queue
