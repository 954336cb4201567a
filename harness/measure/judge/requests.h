// The client's requests, also read during a trial, as it may be cancelled.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

namespace kbench::judge {

/// Lines of standard input, on a thread of their own. It ends this process when the client closes
/// its end or has ended, even while a trial runs: a fork of the client may hold that end, too. (The
/// kernel's own way, a signal at the parent's death, is sent when the parent's thread ends.)
class Requests {
 public:
  struct Received {
    std::string line;
    std::stop_token cancelled;  ///< kCancelLine came after it
    std::stop_token others;     ///< kOthersLine did
  };
  /// Only one object a process. Throws kInternal if no thread can be started.
  Requests();

  /// Waits for a request.
  Received next();
  bool come_within(std::chrono::milliseconds wait);

 private:
  /// Shared with the thread, which lives as long as the process.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Received> waiting;
  };
  static void read(State& state);
  /// Of the request that came last.
  struct Last {
    std::stop_source cancelled, others;
  };
  static void take(State& state, std::string line, Last& last);

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace kbench::judge
