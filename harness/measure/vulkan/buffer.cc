#include "harness/measure/vulkan/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>

#include "harness/measure/vulkan/device_state.h"
#include "harness/measure/vulkan/functions.h"
#include "kbench/error.h"

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

std::string mib(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
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

/// Drivers allocate large memory faster when it is dedicated to one buffer.
VkMemoryDedicatedAllocateInfo dedicated_to(VkBuffer buffer) {
  VkMemoryDedicatedAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
  info.buffer = buffer;
  return info;
}

void require_inside(const Buffer& buffer, uint64_t offset, uint64_t size, const std::string& what) {
  if (offset <= buffer.size() && size <= buffer.size() - offset) return;
  throw Error(ErrorCode::kInvalidArgument, what + " of " + std::to_string(size) + " bytes at " +
                                               std::to_string(offset) + " runs past the buffer's " +
                                               std::to_string(buffer.size()));
}

uint64_t Buffer::size() const { return state_ ? state_->size : 0; }
uint64_t Buffer::address() const { return state_ ? state_->address : 0; }
VkBuffer Buffer::handle() const { return state_ ? state_->buffer : VK_NULL_HANDLE; }
std::byte* Buffer::mapped() const { return state_ ? state_->mapped : nullptr; }

Buffer::State::~State() {
  if (record->hung) return;  // the device may still be using it
  if (buffer != VK_NULL_HANDLE) vkDestroyBuffer(device, buffer, nullptr);
  if (memory != VK_NULL_HANDLE) vkFreeMemory(device, memory, nullptr);
  if (maps_file) munmap(mapped, memory_bytes);
  record->allocated_bytes -= counted_bytes;
}

void Device::State::refuse_memory(uint64_t bytes, const std::string& why) const {
  throw Error(ErrorCode::kOutOfMemory,
              "cannot allocate " + mib(bytes) + " on '" + snapshot.name + "': " + why);
}

Buffer Device::State::begin_buffer(uint64_t bytes, const void* next) const {
  if (bytes == 0) throw Error(ErrorCode::kInvalidArgument, "a buffer of zero bytes");
  if (bytes > snapshot.max_buffer) {
    refuse_memory(bytes, "its largest buffer has " + mib(snapshot.max_buffer));
  }
  // maxMemoryAllocationSize is not checked: drivers grant far more than they state.
  Buffer buffer;
  buffer.state_ = std::make_shared<Buffer::State>();
  buffer.state_->device = device;
  buffer.state_->record = record;
  buffer.state_->size = bytes;

  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.pNext = next;
  info.size = bytes;
  info.usage = kBufferUsage;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  const VkResult created = vkCreateBuffer(device, &info, nullptr, &buffer.state_->buffer);
  if (created == VK_ERROR_OUT_OF_DEVICE_MEMORY) {
    refuse_memory(bytes, "the driver refuses a buffer of this size");
  }
  check(created, "vkCreateBuffer", __FILE__, __LINE__);
  return buffer;
}

VkMemoryRequirements Device::State::requirements(const Buffer& buffer) const {
  VkMemoryRequirements requirements{};
  vkGetBufferMemoryRequirements(device, buffer.handle(), &requirements);
  return requirements;
}

uint32_t Device::State::choose_type(const Buffer& buffer, uint32_t type_bits, MemoryUse use) const {
  const std::optional<uint32_t> type = choose_memory_type(memory, type_bits, use);
  if (!type) refuse_memory(buffer.size(), "no memory type fits");
  return *type;
}

void Device::State::allocate_memory(const Buffer& buffer, uint64_t bytes, uint32_t type,
                                    const void* next) const {
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.pNext = next;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocation.pNext = &flags;
  allocation.allocationSize = bytes;
  allocation.memoryTypeIndex = type;
  Buffer::State& state = *buffer.state_;
  const VkResult allocated = vkAllocateMemory(device, &allocation, nullptr, &state.memory);
  if (allocated == VK_ERROR_OUT_OF_DEVICE_MEMORY || allocated == VK_ERROR_OUT_OF_HOST_MEMORY) {
    const uint64_t heap = memory.memoryHeaps[memory.memoryTypes[type].heapIndex].size;
    const DeviceHeap largest =
        largest_device_heap(physical, snapshot.has_extension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME));
    refuse_memory(
        buffer.size(),
        (allocated == VK_ERROR_OUT_OF_HOST_MEMORY ? "the host has no memory for it; " : "") +
            mib(record->allocated_bytes) + " of " + mib(heap) + " are taken by this process" +
            (largest.has_budget ? ", " + mib(largest.free_bytes) + " are free" : ""));
  }
  check(allocated, "vkAllocateMemory", __FILE__, __LINE__);
  state.memory_bytes = bytes;
  state.memory_type = type;
}

void Device::State::bind(const Buffer& buffer) const {
  Buffer::State& state = *buffer.state_;
  KBENCH_VK(vkBindBufferMemory(device, state.buffer, state.memory, 0));
  VkBufferDeviceAddressInfo address{};
  address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  address.buffer = state.buffer;
  state.address = vkGetBufferDeviceAddress(device, &address);
}

void Device::State::count(const Buffer& buffer) const {
  buffer.state_->counted_bytes = buffer.state_->memory_bytes;
  record->allocated_bytes += buffer.state_->counted_bytes;
}

Buffer Device::State::make_buffer(uint64_t bytes, MemoryUse use) const {
  Buffer buffer = begin_buffer(bytes, nullptr);
  const VkMemoryRequirements needs = requirements(buffer);
  const VkMemoryDedicatedAllocateInfo dedicated = dedicated_to(buffer.handle());
  allocate_memory(buffer, needs.size, choose_type(buffer, needs.memoryTypeBits, use),
                  use == MemoryUse::device ? &dedicated : nullptr);
  bind(buffer);
  if (use == MemoryUse::device) {
    count(buffer);
  } else {
    void* mapped = nullptr;
    KBENCH_VK(vkMapMemory(device, buffer.state_->memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    buffer.state_->mapped = static_cast<std::byte*>(mapped);
  }
  return buffer;
}

Buffer Device::allocate(uint64_t bytes) { return state_->make_buffer(bytes, MemoryUse::device); }

Buffer Device::allocate_host(uint64_t bytes) { return state_->make_buffer(bytes, MemoryUse::host); }

uint64_t Device::allocated_bytes() const { return state_->record->allocated_bytes; }

uint64_t Device::available_bytes() const {
  const DeviceHeap heap = largest_device_heap(
      state_->physical, state_->snapshot.has_extension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME));
  if (heap.has_budget) return heap.free_bytes;
  return heap.bytes - std::min(heap.bytes, allocated_bytes());
}

}  // namespace kbench::vulkan
