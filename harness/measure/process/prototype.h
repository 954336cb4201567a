// A fork server: a process that prepares once what many processes need, and forks them from itself.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "harness/measure/process/channel.h"
#include "harness/measure/process/child_process.h"

namespace kbench::process {

/// The asking side. Copies are children of this process, each in a group of its own, with the
/// prototype's program, environment and memory as of serve_copies(), and so with the same address
/// layout. Thread-safe.
class Prototype {
 public:
  /// Starts the program, which must call serve_copies(), and does not wait for it. Makes this
  /// process a subreaper. Throws as ChildProcess does.
  explicit Prototype(Spawn spawn);

  /// Forks a copy, in which serve_copies() returns `told`. It has `descriptors` from
  /// kCopyDescriptor on, the three standard ones and no others, and starts in an empty folder.
  /// Waits for the prototype to be ready. Throws kIo if it has ended or does not answer; it must
  /// not be used after that.
  std::unique_ptr<ChildProcess> copy(const std::string& told, const std::vector<int>& descriptors);

 private:
  std::mutex mutex_;
  std::pair<UniqueFd, UniqueFd> ends_;
  ChildProcess process_;
  Channel channel_;
};

constexpr int kCopyDescriptor = 3;

/// The prototype's side. To be called while the process has one thread. Returns in each copy, with
/// what it was told; ends the prototype when the asking process is gone.
std::string serve_copies();

}  // namespace kbench::process
