// The filter of system calls that a runner lives under.
#pragma once

#include "harness/measure/runner/lock_in.h"

namespace kbench::runner {

/// Installs the filter in all threads. What it denies fails with EPERM, and with ENOSYS where libc
/// then takes another way: to be killed would look like the candidate's crash.
LockLayer restrict_system_calls(bool software_device);

/// For Triton's python3: all but sockets, signals, leaving its process group, looking into other
/// processes and the kernel's own doors.
LockLayer restrict_system_calls_of_python();

}  // namespace kbench::runner
