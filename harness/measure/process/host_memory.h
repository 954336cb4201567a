// Memory of this machine.
#pragma once

#include <cstdint>

#include "harness/measure/process/cgroups.h"

namespace kbench::process {

/// Bytes that can be had without swapping, and within the limits of the process's control groups;
/// 0 when the system does not say.
int64_t available_host_bytes(const SystemFolders& folders = {});

/// The most memory this process has held at once since the last call of forget_peak(), or since its
/// start where the system cannot forget; 0 when the system does not say.
int64_t peak_host_bytes();
void forget_peak();

}  // namespace kbench::process
