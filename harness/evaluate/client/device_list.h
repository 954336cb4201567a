// The devices, listed by a process of their own: a driver that crashes or hangs ends only that.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/evaluate.h"

namespace kbench::client {

/// Throws kInternal or kTimeout where a driver crashes or hangs while it lists its devices, and
/// what program_path() throws.
std::vector<vulkan::DeviceSnapshot> list_snapshots(const std::string& program = {},
                                                   double seconds = 60);

/// As list_devices() gives it.
DeviceSummary summary_of(const vulkan::DeviceSnapshot& snapshot);

/// The listing process's side: what `kbench list-devices-process` does.
int run_device_lister();

/// The chosen program; else $KBENCH_PROGRAM; this program if it is kbench; the one beside it; the
/// one on PATH. Throws kNotFound.
std::string program_path(const std::string& chosen);

}  // namespace kbench::client
