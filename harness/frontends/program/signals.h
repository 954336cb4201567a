// Handles SIGINT and SIGTERM as requests to stop: the first one lets running work finish, the
// second one stops at once.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <thread>

namespace kbench::program {

/// While an object exists, the signals do not end the process. Only one may exist at a time.
class StopSignals {
 public:
  /// `on_first` is called by a separate thread at the first signal.
  explicit StopSignals(std::function<void(int signal)> on_first);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;

  std::stop_token gently() const { return gently_.get_token(); }
  std::stop_token at_once() const { return at_once_.get_token(); }
  int signal() const { return signal_; }  ///< the first signal; 0: none

 private:
  void watch(const std::function<void(int)>& on_first);

  std::stop_source gently_, at_once_;
  int pipe_[2] = {-1, -1};
  std::atomic<int> signal_ = 0;
  std::thread thread_;
};

}  // namespace kbench::program
