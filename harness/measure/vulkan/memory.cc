#include "harness/measure/vulkan/memory.h"

namespace kbench::vulkan {
namespace {

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kVisible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
constexpr VkMemoryPropertyFlags kCoherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

/// How well a memory type serves, the higher the better; 0: not at all.
int rank(VkMemoryPropertyFlags flags, MemoryUse use) {
  // Protected, lazily allocated, uncached and similar types are not for buffers like these.
  if (flags & ~(kLocal | kVisible | kCoherent | kCached)) return 0;
  if (use == MemoryUse::device) {
    if (!(flags & kLocal)) return 0;
    return (flags & kVisible) ? 1 : 2;
  }
  if (!(flags & kVisible) || !(flags & kCoherent)) return 0;
  return 1 + ((flags & kCached) ? 2 : 0) + ((flags & kLocal) ? 0 : 1);
}

}  // namespace

std::optional<uint32_t> choose_memory_type(const VkPhysicalDeviceMemoryProperties& memory,
                                           uint32_t type_bits, MemoryUse use) {
  std::optional<uint32_t> best;
  int best_rank = 0;
  VkDeviceSize best_heap = 0;
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    if (!(type_bits >> i & 1)) continue;
    const int candidate = rank(memory.memoryTypes[i].propertyFlags, use);
    const VkDeviceSize heap = memory.memoryHeaps[memory.memoryTypes[i].heapIndex].size;
    if (candidate > best_rank || (candidate == best_rank && best_rank > 0 && heap > best_heap)) {
      best = i;
      best_rank = candidate;
      best_heap = heap;
    }
  }
  return best;
}

}  // namespace kbench::vulkan
