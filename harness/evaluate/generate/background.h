// A thread that does work in the background, so that the caller does not wait for it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "libkbench/base/start_thread.h"

namespace kbench::generate {

/// One thread that runs jobs in the order they are posted. Jobs must not throw.
class Background {
 public:
  /// Throws kInternal if no thread can be started.
  Background() : thread_(start_thread<std::thread>([this] { work(); })) {}
  /// Runs the jobs that are left first.
  ~Background() {
    {
      const std::lock_guard hold(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Background(const Background&) = delete;

  void post(std::function<void()> job) {
    {
      const std::lock_guard hold(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock hold(mutex_);
      changed_.wait(hold, [this] { return ended_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      hold.unlock();
      job();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace kbench::generate
