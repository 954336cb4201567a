// The filter of system calls in a locked-in process.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/measure/runner/lock_in.h"

namespace kbench::runner {

/// Installs the filter in all threads. A denied call fails with EPERM, or with ENOSYS where libc
/// then uses another call. It does not kill, which would look like a crash of the candidate.
LockLayer restrict_system_calls(bool software_device);

/// For python3: denies sockets, signals, leaving its process group, reading other processes, and
/// administration of the kernel.
LockLayer restrict_system_calls_of_python();
/// The same filter for a process that installs it itself: an array of sock_filter. Throws
/// kInternal.
std::vector<uint8_t> program_of_python_filter();

}  // namespace kbench::runner
