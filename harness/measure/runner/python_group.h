// The processes of one job of Triton's Python. They are a process group, so that one signal ends
// all of them, even while they start others.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

#include "libkbench/base/unique_fd.h"

namespace kbench::runner {

/// Kills every process of the group and waits for them; this process must be a subreaper. False if
/// it takes too long.
bool end_group(pid_t group, double seconds);

/// How a child has ended, if it has; does not reap it.
std::optional<siginfo_t> end_of(pid_t child);

/// How many processes the group has.
size_t size_of_group(pid_t group);

/// A process that ends the group and removes the folder if this process is killed.
class GroupGuard {
 public:
  /// Throws kIo.
  GroupGuard(pid_t group, const std::string& folder);
  /// Ends the guard. The group must have ended; the folder is the caller's to remove.
  ~GroupGuard();
  GroupGuard(const GroupGuard&) = delete;

  /// Starts it anew if it has ended, which only something outside of kbench can bring about. Throws
  /// kIo.
  void watch();

 private:
  void start();

  pid_t group_;
  std::string folder_;
  pid_t pid_ = -1;
  UniqueFd end_;  ///< closed when this process ends: the guard sees the end of file
};

}  // namespace kbench::runner
