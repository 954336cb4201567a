// What code that has taken a runner over would try, in the runner's own process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace kbench::runner {

/// Whom and what the attacks are aimed at.
struct Target {
  pid_t parent = 0;
  std::string file;  ///< of the user's, outside everything drivers read
};

struct Attack {
  const char* name;
  bool (*succeeds)(const Target& target);
  /// Where drivers may open files, only Landlock tells which.
  bool by_path = false;
  /// Works on an open system; tracing a parent does not on many.
  bool open_to_all = true;
};

const std::vector<Attack>& attacks();

}  // namespace kbench::runner
