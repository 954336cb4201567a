// Device memory that several processes use, each through a Vulkan device of its own.
#pragma once

#include <cstdint>

#include "libkbench/base/unique_fd.h"

namespace kbench::vulkan {

/// What an importer may do. On software devices read_only memory faults when it is written. Other
/// devices do not enforce it: contents that must not change have to be checked.
enum class Access { read_only, read_write };

/// What one process sends to another so that both use the same memory: the descriptor over a Unix
/// socket (SCM_RIGHTS), the numbers in a message.
struct SharedMemory {
  UniqueFd descriptor;
  uint64_t bytes = 0;        ///< Buffer::size() of the exporter's buffer: the whole allocation
  uint32_t memory_type = 0;  ///< index in VkPhysicalDeviceMemoryProperties, the same on both sides
};

}  // namespace kbench::vulkan
