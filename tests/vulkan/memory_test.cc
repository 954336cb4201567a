#include <gtest/gtest.h>

#include <vector>

#include "harness/measure/vulkan/buffer.h"

namespace kbench::vulkan {
namespace {

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kHost =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr uint32_t kAnyType = ~0u;

struct Type {
  VkMemoryPropertyFlags flags;
  VkDeviceSize heap_bytes;
};

VkPhysicalDeviceMemoryProperties memory(const std::vector<Type>& types) {
  VkPhysicalDeviceMemoryProperties properties{};
  for (const Type& type : types) {
    const uint32_t i = properties.memoryTypeCount++;
    properties.memoryTypes[i] = {type.flags, i};
    properties.memoryHeaps[i].size = type.heap_bytes;
  }
  return properties;
}

TEST(ChooseMemoryType, IsTheBestOfThoseThatServe) {
  const struct {
    std::vector<Type> types;
    uint32_t bits;
    MemoryUse use;
    std::optional<uint32_t> best;
  } cases[] = {
      // A device's memory is not host-visible where it can be.
      {{{kHost, 100}, {kLocal | kHost, 100}, {kLocal, 50}}, kAnyType, MemoryUse::device, 2},
      {{{kHost, 100}, {kLocal | kHost, 100}, {kLocal, 50}}, 0b011, MemoryUse::device, 1},
      {{{kHost, 100}, {kLocal | kHost, 100}, {kLocal, 50}}, 0b001, MemoryUse::device, {}},
      // Equal types go by the size of their heaps.
      {{{kLocal, 10}, {kLocal, 20}, {kLocal, 15}}, kAnyType, MemoryUse::device, 1},
      // The host's memory is cached where it can be.
      {{{kLocal | kHost, 10}, {kHost, 10}, {kHost | kCached, 10}}, kAnyType, MemoryUse::host, 2},
      {{{kLocal | kHost, 10}, {kHost, 10}, {kHost | kCached, 10}}, 0b011, MemoryUse::host, 1},
      {{{kLocal, 10}}, kAnyType, MemoryUse::host, {}},
      // The only type of a CPU serves both.
      {{{kLocal | kHost | kCached, 10}}, kAnyType, MemoryUse::device, 0},
      {{{kLocal | kHost | kCached, 10}}, kAnyType, MemoryUse::host, 0},
      // Memory of a special purpose serves nothing.
      {{{kLocal | VK_MEMORY_PROPERTY_PROTECTED_BIT, 10}}, kAnyType, MemoryUse::device, {}},
      {{{kLocal | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, 10}}, kAnyType, MemoryUse::device, {}},
  };
  for (const auto& [types, bits, use, best] : cases) {
    EXPECT_EQ(choose_memory_type(memory(types), bits, use), best) << types.size() << " " << bits;
  }
}

}  // namespace
}  // namespace kbench::vulkan
