// Child processes that are stopped while something is timed.
#pragma once

#include <sys/types.h>

#include <list>
#include <mutex>

#include "libkbench/base/unique_fd.h"

namespace kbench::process {

/// Children of this process that are stopped between pause() and resume(): on an H200, one process
/// opening the device lengthens one in ten runs of 2.5 ms by up to a half. Thread-safe.
class PausableProcesses {
 public:
  /// Membership of one child, until it is destroyed.
  class Entry {
   public:
    Entry() = default;
    Entry(Entry&& other) noexcept;
    Entry& operator=(Entry&& other) noexcept;
    ~Entry() { remove(); }
    /// The child is no longer paused, and is resumed if it was.
    void remove();

   private:
    friend class PausableProcesses;
    PausableProcesses* of_ = nullptr;
    std::list<UniqueFd>::iterator which_;
  };
  /// `child` has not been waited for.
  Entry add(pid_t child);

  /// Stops all of them and waits for it, for 0.7 ms at most: one that is inside a longer system
  /// call stops at its end. Work that they have submitted to a device goes on.
  void pause();
  void resume();

 private:
  std::mutex mutex_;
  std::list<UniqueFd> children_;  ///< pidfds
  bool paused_ = false;
};

/// Pauses them during a scope.
class PausedScope {
 public:
  explicit PausedScope(PausableProcesses& pausable) : pausable_(pausable) { pausable_.pause(); }
  ~PausedScope() { pausable_.resume(); }
  PausedScope(const PausedScope&) = delete;
  PausedScope& operator=(const PausedScope&) = delete;

 private:
  PausableProcesses& pausable_;
};

}  // namespace kbench::process
