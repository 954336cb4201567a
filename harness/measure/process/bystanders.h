// Processes that must not run while something is timed.
#pragma once

#include <sys/types.h>

#include <list>
#include <mutex>

#include "libkbench/base/unique_fd.h"

namespace kbench::process {

/// Children of this process that stand still between hold() and release(): on an H200 one device
/// being opened lengthens one in ten runs of 2.5 ms by up to a half. Thread-safe.
class Bystanders {
 public:
  /// A child among them, until this goes.
  class Entry {
   public:
    Entry() = default;
    Entry(Entry&& other) noexcept;
    Entry& operator=(Entry&& other) noexcept;
    ~Entry() { leave(); }
    /// It may run from now on, also while something is timed.
    void leave();

   private:
    friend class Bystanders;
    Bystanders* of_ = nullptr;
    std::list<UniqueFd>::iterator which_;
  };
  /// `child` has not been waited for.
  Entry enter(pid_t child);

  /// When this returns none of them runs, but for one that the kernel has kept for longer than 0.7
  /// milliseconds. What they have on a device then is what they had submitted.
  void hold();
  void release();

 private:
  std::mutex mutex_;
  std::list<UniqueFd> children_;  ///< pidfds
  bool held_ = false;
};

/// For the time of a scope.
class HeldStill {
 public:
  explicit HeldStill(Bystanders& bystanders) : bystanders_(bystanders) { bystanders_.hold(); }
  ~HeldStill() { bystanders_.release(); }
  HeldStill(const HeldStill&) = delete;
  HeldStill& operator=(const HeldStill&) = delete;

 private:
  Bystanders& bystanders_;
};

}  // namespace kbench::process
