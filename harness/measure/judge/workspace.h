// Memory of the judge's own, kept from trial to trial.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::judge {

/// What one trial at a time works with, made once: drivers take a lock of the whole host to
/// allocate, so that an allocation waits while another process opens a device.
struct Workspace {
  explicit Workspace(vulkan::Device& device_in) : device(device_in), commands(device_in) {}

  /// Makes a buffer hold at least so many bytes; its contents are lost if it was too small.
  void reserve(vulkan::Buffer& buffer, uint64_t bytes) {
    if (buffer.size() < bytes) buffer = device.allocate(with_room(bytes));
  }
  void reserve_host(vulkan::Buffer& buffer, uint64_t bytes) {
    if (buffer.size() < bytes) buffer = device.allocate_host(with_room(bytes));
  }

  /// Rounded up, so that a little more the next time needs no allocation.
  static uint64_t with_room(uint64_t bytes) {
    constexpr uint64_t kLeast = 1 << 20, kMost = 1 << 28;
    return bytes > kMost ? bytes : std::max(kLeast, std::bit_ceil(bytes));
  }

  vulkan::Device& device;
  vulkan::Commands commands;
  vulkan::Buffer zones, hash_table, report, work, host;  ///< of Checks
};

}  // namespace kbench::judge
