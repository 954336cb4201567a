// Starting threads where the system may allow no more of them.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "kbench/error.h"

namespace kbench {

/// A std::thread or std::jthread that does this work. Throws kInternal where a limit on processes
/// allows no more threads.
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
