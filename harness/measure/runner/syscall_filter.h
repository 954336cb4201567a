// The filter of system calls in a locked-in process.
#pragma once

#include "harness/measure/runner/lock_in.h"

namespace kbench::runner {

/// Installs the filter in all threads. A denied call fails with EPERM, or with ENOSYS where libc
/// then uses another call. It does not kill, which would look like a crash of the candidate.
LockLayer restrict_system_calls(bool software_device);

/// For Triton's python3: denies sockets, signals, leaving its process group, reading other
/// processes, and administration of the kernel.
LockLayer restrict_system_calls_of_python();

}  // namespace kbench::runner
