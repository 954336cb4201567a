// Work that is done on a thread of its own, so that the caller does not wait for it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "libkbench/base/start_thread.h"

namespace kbench::generate {

/// One thread that does jobs in their order. Jobs must not throw.
class Background {
 public:
  /// Throws kInternal where there is no thread to be had.
  Background() : thread_(start_thread<std::thread>([this] { work(); })) {}
  /// Does what is left first.
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
