// A Vulkan buffer with its own memory.
#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace kbench::vulkan {

/// Movable owner of one VkBuffer and its VkDeviceMemory. Freed on destruction; the device must
/// still be alive and must not be using it.
class Buffer {
 public:
  Buffer() = default;
  uint64_t size() const;
  uint64_t address() const;  ///< device address of byte 0
  VkBuffer handle() const;
  std::byte* mapped() const;  ///< null unless host-visible
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
