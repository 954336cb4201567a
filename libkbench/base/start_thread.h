// Threads, of which the system may have none left.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "kbench/error.h"

namespace kbench {

/// A std::thread or std::jthread that does this work. Throws kInternal where there is none to be
/// had, by a limit on processes.
template <class Thread, class Work>
Thread start_thread(Work&& work) {
  try {
    return Thread(std::forward<Work>(work));
  } catch (const std::system_error& e) {
    throw Error(ErrorCode::kInternal,
                "a thread cannot be started (see ulimit -u, and a container's pids.max): " +
                    e.code().message());
  }
}

}  // namespace kbench
