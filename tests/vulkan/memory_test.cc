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

TEST(ChooseMemoryType, DeviceMemoryIsNotHostVisibleWhereItCanBe) {
  const auto properties = memory({{kHost, 100}, {kLocal | kHost, 100}, {kLocal, 50}});
  EXPECT_EQ(choose_memory_type(properties, kAnyType, MemoryUse::device), 2u);
  EXPECT_EQ(choose_memory_type(properties, 0b011, MemoryUse::device), 1u);
  EXPECT_EQ(choose_memory_type(properties, 0b001, MemoryUse::device), std::nullopt);
}

TEST(ChooseMemoryType, EqualTypesGoByHeapSize) {
  const auto properties = memory({{kLocal, 10}, {kLocal, 20}, {kLocal, 15}});
  EXPECT_EQ(choose_memory_type(properties, kAnyType, MemoryUse::device), 1u);
}

TEST(ChooseMemoryType, HostMemoryIsCachedWhereItCanBe) {
  const auto properties =
      memory({{kLocal | kHost, 10}, {kHost, 10}, {kHost | kCached, 10}, {kLocal, 10}});
  EXPECT_EQ(choose_memory_type(properties, kAnyType, MemoryUse::host), 2u);
  EXPECT_EQ(choose_memory_type(properties, 0b0011, MemoryUse::host), 1u);
  EXPECT_EQ(choose_memory_type(properties, 0b1000, MemoryUse::host), std::nullopt);
}

TEST(ChooseMemoryType, TheOnlyTypeOfACpuServesBoth) {
  const auto properties = memory({{kLocal | kHost | kCached, 10}});
  EXPECT_EQ(choose_memory_type(properties, kAnyType, MemoryUse::device), 0u);
  EXPECT_EQ(choose_memory_type(properties, kAnyType, MemoryUse::host), 0u);
}

TEST(ChooseMemoryType, NeverTakesSpecialPurposeMemory) {
  const auto properties = memory({{kLocal | VK_MEMORY_PROPERTY_PROTECTED_BIT, 10},
                                  {kLocal | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, 10}});
  EXPECT_EQ(choose_memory_type(properties, kAnyType, MemoryUse::device), std::nullopt);
}

}  // namespace
}  // namespace kbench::vulkan
