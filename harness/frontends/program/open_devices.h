// Opens the devices of a job.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/frontends/program/options.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/evaluate.h"

namespace kbench::program {

struct OpenDevices {
  std::vector<std::unique_ptr<Evaluator>> evaluators;  ///< by device
  std::vector<vulkan::DeviceSnapshot> snapshots;
  const vulkan::DeviceSnapshot& first() const { return snapshots.front(); }
};

/// Starts a judge on the device of --device, or on each of --devices; or reaches those of --server,
/// which come several to a device, so that it always has candidates to compile. If one of several
/// does not open, it is left out, with a line on standard error. Throws if none is left, and
/// kInvalidArgument if they are of several kinds where they must be of `one_kind`.
OpenDevices open_devices(const DeviceOptions& options, bool one_kind = true);

/// The preset at which all tasks run on all devices: check_sizes() for each device.
Preset check_sizes(const std::vector<const Task*>& tasks, const SizeOptions& size,
                   const std::vector<vulkan::DeviceSnapshot>& devices,
                   const std::optional<RecordedTimes>& recorded);

std::string name_with_index(const vulkan::DeviceSnapshot& device);  ///< "device 1 (NVIDIA H200)"
/// "NVIDIA H200", "2 x NVIDIA H200".
std::string names_of(const std::vector<vulkan::DeviceSnapshot>& devices);

}  // namespace kbench::program
