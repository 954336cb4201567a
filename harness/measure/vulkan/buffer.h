// A Vulkan buffer with its own memory: which type that has, and how several processes use it, each
// through a Vulkan device of its own.
#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "libkbench/base/files.h"

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

/// The usages of every buffer that kbench makes.
constexpr VkBufferUsageFlags kBufferUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
    VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
    VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
    VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT;

enum class MemoryUse {
  /// Device-local, and not host-visible where there is such a type: what is timed must not depend
  /// on how a host-visible window onto device memory happens to be mapped.
  device,
  /// Host-visible and coherent; cached and outside device-local heaps where there is such a type.
  host,
};

/// The best memory type among those `type_bits` allows; nothing when none serves.
std::optional<uint32_t> choose_memory_type(const VkPhysicalDeviceMemoryProperties& memory,
                                           uint32_t type_bits, MemoryUse use);

/// Movable owner of one VkBuffer and its VkDeviceMemory. Freed on destruction; the device must
/// still be alive and must not be using it.
class Buffer {
 public:
  Buffer() = default;
  uint64_t size() const;
  uint64_t address() const;  ///< device address of byte 0
  VkBuffer handle() const;
  /// The memory in this process, null unless allocate_host() made it or it is shared on a software
  /// device. Memory imported for reading only must not be written.
  std::byte* mapped() const;
  /// What another process needs to import this memory. Software devices enforce `access`. Throws
  /// kInvalidArgument unless allocate_shared() made the buffer.
  SharedMemory share(Access access) const;
  explicit operator bool() const { return state_ != nullptr; }

 private:
  friend class Device;
  struct State;
  std::shared_ptr<State> state_;
};

/// A part of a buffer, as bound to a shader or handed around as a tensor's memory.
struct Region {
  const Buffer* buffer = nullptr;
  uint64_t offset = 0;  ///< bytes
  uint64_t size = 0;    ///< bytes
  uint64_t address() const { return buffer->address() + offset; }
};

}  // namespace kbench::vulkan
