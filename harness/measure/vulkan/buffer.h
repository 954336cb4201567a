// A Vulkan buffer with its own memory.
#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "harness/measure/vulkan/shared_memory.h"

namespace kbench::vulkan {

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
