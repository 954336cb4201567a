// Memory of the judge's own, kept from trial to trial.
#pragma once

#include <cstdint>

#include "harness/vulkan/commands.h"
#include "harness/vulkan/device.h"

namespace kbench::judge {

/// What one trial at a time works with. Drivers take a lock of the whole host to allocate: what is
/// made anew for each trial waits for whoever opens a device meanwhile.
struct Workspace {
  explicit Workspace(vulkan::Device& device_in) : device(device_in), commands(device_in) {}

  /// Makes a buffer hold so many bytes at least; what was in it is lost where it did not.
  void reserve(vulkan::Buffer& buffer, uint64_t bytes) {
    if (buffer.size() < bytes) buffer = device.allocate(bytes);
  }
  void reserve_host(vulkan::Buffer& buffer, uint64_t bytes) {
    if (buffer.size() < bytes) buffer = device.allocate_host(bytes);
  }

  vulkan::Device& device;
  vulkan::Commands commands;
  vulkan::Buffer zones, hash_table, report, work, host;  ///< of Checks
};

}  // namespace kbench::judge
