// A process that gets ready what many processes need, once, and makes them as copies of itself.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>

#include "harness/measure/process/channel.h"
#include "harness/measure/process/child_process.h"

namespace kbench::process {

/// The side that asks. Copies are children of this process, in groups of their own, with the
/// prototype's program and environment and its memory as it was when it began to serve: they have
/// its address layout in common, too. Thread-safe.
class Prototype {
 public:
  /// Starts the program, which is to call serve_copies(). Does not wait. From then on orphans below
  /// this process become its children. Throws as ChildProcess does.
  explicit Prototype(Spawn spawn);

  /// A copy that was told this, has `descriptor` as its kCopyDescriptor, and starts in an empty
  /// folder, with no other descriptor but the three that every child has. Waits for the prototype
  /// to be ready. Throws kIo when it has ended or does not answer, and is of no more use then.
  std::unique_ptr<ChildProcess> copy(const std::string& told, const UniqueFd& descriptor);

 private:
  std::mutex mutex_;
  std::pair<UniqueFd, UniqueFd> ends_;
  ChildProcess process_;
  Channel channel_;
};

constexpr int kCopyDescriptor = 3;

/// The prototype's side: to be called while the process has one thread. Returns in each copy what
/// that was told; ends the process when the one who asks is gone.
std::string serve_copies();

}  // namespace kbench::process
