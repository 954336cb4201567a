// The members of Device, for the files that implement it.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <memory>
#include <string>

#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/instance.h"
#include "harness/measure/vulkan/pipeline.h"

namespace kbench::vulkan {

/// What a buffer needs of its device when it is destroyed; buffers share it.
struct DeviceRecord {
  std::atomic<uint64_t> allocated_bytes = 0;
  bool hung = false;
};

struct Buffer::State {
  VkDevice device = VK_NULL_HANDLE;
  std::shared_ptr<DeviceRecord> record;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t size = 0;
  uint64_t address = 0;
  uint64_t memory_bytes = 0;   ///< the whole allocation
  uint64_t counted_bytes = 0;  ///< this buffer's part of record->allocated_bytes
  uint32_t memory_type = 0;
  std::byte* mapped = nullptr;
  Sharing sharing = Sharing::none;  ///< how it can be handed over, when allocate_shared() made it
  /// Exported once, or a memfd where memory is shared as a host pointer. share() duplicates it:
  /// exporting anew would take the driver's lock.
  UniqueFd file;
  bool maps_file = false;  ///< `mapped` is a mapping of that memfd

  State() = default;
  State(const State&) = delete;
  ~State();
};

VkMemoryDedicatedAllocateInfo dedicated_to(VkBuffer buffer);

struct Device::State {
  std::unique_ptr<Instance> instance;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  DeviceSnapshot snapshot;
  DevicePlan plan;
  VkPhysicalDeviceMemoryProperties memory{};
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  PFN_vkCmdWriteTimestamp2 write_timestamp2 = nullptr;  ///< null without synchronization2
  std::shared_ptr<DeviceRecord> record = std::make_shared<DeviceRecord>();
  ShaderCompiler compiler;
  std::unique_ptr<PipelineCache> pipelines;
  Buffer staging;
  std::unique_ptr<Commands> staging_commands;

  State() = default;
  State(const State&) = delete;
  ~State();

  void create_device(bool for_cuda);
  Buffer make_buffer(uint64_t bytes, MemoryUse use) const;

  Buffer share_descriptor(uint64_t bytes) const;
  UniqueFd export_descriptor(const Buffer& buffer) const;
  Buffer share_host_pointer(uint64_t bytes) const;
  Buffer import_descriptor(SharedMemory shared) const;
  Buffer import_host_pointer(SharedMemory shared, Access access) const;

 private:
  // The steps of making a buffer, in their order; `next` continues the pNext chain.
  Buffer begin_buffer(uint64_t bytes, const void* next) const;
  /// Of a size that is a multiple of `granule` and exactly that of the memory it needs.
  Buffer begin_whole_buffer(uint64_t bytes, uint64_t granule, const void* next) const;
  VkMemoryRequirements requirements(const Buffer& buffer) const;
  uint32_t choose_type(const Buffer& buffer, uint32_t type_bits, MemoryUse use) const;
  void allocate_memory(const Buffer& buffer, uint64_t bytes, uint32_t type, const void* next) const;
  void bind(const Buffer& buffer) const;
  void export_memory(const Buffer& buffer, uint32_t type) const;
  /// Makes the whole allocation behind the descriptor the buffer's memory.
  void import_memory(const Buffer& buffer, UniqueFd descriptor, uint32_t type) const;

  /// Counts the buffer's memory as allocated by this process until the buffer is destroyed.
  void count(const Buffer& buffer) const;
  /// Maps the memfd and makes the mapping the buffer's memory.
  void allocate_file(const Buffer& buffer, const UniqueFd& file, Access access) const;
  [[noreturn]] void refuse_memory(uint64_t bytes, const std::string& why) const;
};

/// Throws kInvalidArgument, `what` naming the access, unless it lies inside the buffer.
void require_inside(const Buffer& buffer, uint64_t offset, uint64_t size, const std::string& what);

}  // namespace kbench::vulkan
