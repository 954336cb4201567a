// The processes of one job of Python's. They are a process group, so that one signal ends
// all of them, even while they start others.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/runner/python_scratch.h"
#include "libkbench/base/files.h"

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

/// What a process of Python's is started with (PythonPrototype::fork_for).
struct PythonStart {
  std::string name = "script.py";  ///< of its script: in tracebacks, and in lists of processes
  std::string script;
  int input = -1;                         ///< its standard input; -1: nothing to read
  int output = -1;                        ///< its standard output and error
  int channel = -1;                       ///< its descriptor 3
  uint64_t host_bytes = 0;                ///< its memory, at most
  std::vector<std::string> devices = {};  ///< files of the device that it may use
  /// Variables beside what each has.
  std::vector<std::pair<std::string, std::string>> environment = {};
};

/// The exit status of a process that could not be locked in.
inline constexpr int kNoLock = 97;

/// Which limit a group of processes exceeds, in files or processes; empty for none.
std::string taken_too_much(pid_t group, const PythonScratch& scratch);

}  // namespace kbench::runner
