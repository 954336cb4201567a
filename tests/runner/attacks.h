// What code that has taken over a runner would try, in the runner's own process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace kbench::runner {

/// The targets of the attacks.
struct Target {
  pid_t parent = 0;
  std::string file;  ///< of the user's, outside everything drivers read
};

struct Attack {
  const char* name;
  bool (*succeeds)(const Target& target);
  /// On GPUs, where drivers may open files, only Landlock restricts them.
  bool by_path = false;
  /// Works on a system without lock-in; tracing a parent does not work on many.
  bool open_to_all = true;
};

const std::vector<Attack>& attacks();

}  // namespace kbench::runner
