// The processes of one job of Triton's Python: they are a process group, so that all are ended at
// once, however fast they start others.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "libkbench/base/unique_fd.h"

namespace kbench::runner {

/// Ends every process of the group at once and waits for them; this process adopts those whose
/// parents have ended. False when that takes too long.
bool end_group(pid_t group, double seconds);

/// How many processes the group has.
size_t size_of_group(pid_t group);

/// A process that outlives this one: when this one is killed, it ends the group and removes the
/// folder. Nothing of it is left where this one ends the group itself.
class GroupGuard {
 public:
  /// Throws kIo.
  GroupGuard(pid_t group, const std::string& folder);
  /// The group has ended, and the folder is this process's to remove.
  ~GroupGuard();
  GroupGuard(const GroupGuard&) = delete;

 private:
  pid_t pid_ = -1;
  UniqueFd end_;  ///< its end of file says that this process is gone
};

}  // namespace kbench::runner
