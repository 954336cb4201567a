// A Vulkan device: owns instance, device and queue, and makes buffers, pipelines and commands.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/plan.h"
#include "harness/measure/vulkan/snapshot.h"

namespace kbench::vulkan {

class PipelineCache;
class ShaderCompiler;

struct OpenOptions {
  std::string selector = "auto";
  /// Validation layer on; throws kUnsupported when the layer is not installed.
  bool validate = false;
  /// NVIDIA's driver makes ready for CUDA's, which can then start in a process that is locked in:
  /// VK_NVX_binary_import is enabled where there is one. Opening takes three times as long (0.19 s
  /// and not 0.07 s on an H200).
  bool cuda = false;
};

/// Snapshots of the devices the loader finds; empty when there is no driver.
std::vector<DeviceSnapshot> enumerate_devices();

/// One logical device with one queue. Not thread-safe. Buffers, pipelines and command lists must be
/// destroyed before it.
class Device {
 public:
  /// `before_device`, if given, is called when drivers are loaded and the device is chosen but not
  /// yet opened; it may still change `cuda`. Throws kNotFound, kUnsupported, kDeviceLost, and what
  /// `before_device` throws.
  static std::unique_ptr<Device> open(OpenOptions options,
                                      const std::function<void(OpenOptions&)>& before_device = {});
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceSnapshot& snapshot() const;
  const DevicePlan& plan() const;
  VkDevice handle() const;
  VkQueue queue() const;
  ShaderCompiler& compiler();
  PipelineCache& pipelines();

  /// Device-local memory with a device address. Throws kOutOfMemory with the size.
  Buffer allocate(uint64_t bytes);
  /// Host-visible, coherent and (where there is such a type) cached memory, mapped.
  Buffer allocate_host(uint64_t bytes);
  /// Device-local memory with a device address that another process can import. The size is rounded
  /// up so that the buffer covers every byte of the allocation. Throws kOutOfMemory with the size.
  Buffer allocate_shared(uint64_t bytes);
  /// The memory that Buffer::share() described, in this or another process with a device of the
  /// same UUIDs. Throws kInvalidArgument when the description fits no memory of this device,
  /// kOutOfMemory, kInternal.
  Buffer import_shared(SharedMemory memory, Access access);
  /// Bytes of device-local memory allocated here and not yet freed, without imported memory.
  uint64_t allocated_bytes() const;
  /// Bytes that can still be allocated: the driver's budget where it tells, else heap size less
  /// what is allocated.
  uint64_t available_bytes() const;

  /// Copies through a persistent staging buffer in pieces; waits.
  void upload(const Buffer& to, uint64_t offset, std::span<const std::byte> data);
  void download(const Buffer& from, uint64_t offset, std::span<std::byte> data);

  /// True once a wait has timed out. Work is then still running on the device: its objects are
  /// leaked in place of destroyed, and nothing may be submitted.
  bool hung() const;

  /// Validation messages (warnings and errors) since the last call; empty without `validate`.
  std::vector<std::string> take_validation_messages();

 private:
  friend class Commands;
  Device();
  void prepare_staging();
  struct State;
  std::unique_ptr<State> state_;
};

/// Throws Error naming the call, its VkResult and the source line; VK_ERROR_DEVICE_LOST becomes
/// kDeviceLost, memory errors kOutOfMemory, anything else kInternal.
void check(VkResult result, const char* call, const char* file, int line);
#define KBENCH_VK(call) ::kbench::vulkan::check((call), #call, __FILE__, __LINE__)

}  // namespace kbench::vulkan
