// What Device holds, for the parts of it that stand in several files.
#pragma once

#include <vulkan/vulkan.h>

#include <memory>
#include <string>

#include "harness/vulkan/buffer.h"
#include "harness/vulkan/commands.h"
#include "harness/vulkan/compiler.h"
#include "harness/vulkan/device.h"
#include "harness/vulkan/instance.h"
#include "harness/vulkan/memory.h"
#include "harness/vulkan/pipeline.h"

namespace kbench::vulkan {

/// What buffers must still know of their device when they go.
struct DeviceRecord {
  uint64_t allocated_bytes = 0;
  bool hung = false;
};

struct Buffer::State {
  VkDevice device = VK_NULL_HANDLE;
  std::shared_ptr<DeviceRecord> record;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t size = 0;
  uint64_t address = 0;
  uint64_t counted_bytes = 0;  ///< this buffer's part of record->allocated_bytes
  std::byte* mapped = nullptr;

  State() = default;
  State(const State&) = delete;
  ~State();
};

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

  void create_device();
  Buffer make_buffer(uint64_t bytes, MemoryUse use);
};

/// Throws kInvalidArgument, `what` naming the access, unless it lies inside the buffer.
void require_inside(const Buffer& buffer, uint64_t offset, uint64_t size, const std::string& what);

}  // namespace kbench::vulkan
