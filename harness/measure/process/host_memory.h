// Memory of this machine.
#pragma once

#include <cstdint>

#include "harness/measure/process/cgroups.h"

namespace kbench::process {

/// Bytes that can be allocated without swapping and within the limits of the process's control
/// groups; 0 if the system does not say.
int64_t available_host_bytes(const SystemFolders& folders = {});

/// The peak memory of this process since the last forget_peak(), or since its start if the system
/// cannot reset it; 0 if the system does not say.
int64_t peak_host_bytes();
void forget_peak();

}  // namespace kbench::process
