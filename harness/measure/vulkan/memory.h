// Which memory type a buffer is put in. Pure: testable without a GPU.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <optional>

namespace kbench::vulkan {

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

}  // namespace kbench::vulkan
