// A device through CUDA's driver (libcuda.so.1), opened at run time: launches CUDA kernels on
// memory that Vulkan made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/cuda/nvrtc.h"
#include "kbench/error.h"
#include "libkbench/base/files.h"

namespace kbench::cuda {

/// A call of the driver that failed. The code is kOutOfMemory, kTimeout for a launch that the
/// driver ended, or kInternal.
class DriverError : public Error {
 public:
  DriverError(int result, const std::string& message);
  int result() const { return result_; }
  /// The kernel accessed memory that it must not; the context cannot be used any more.
  bool faulted() const;
  /// The kernel stopped at a trap, an assertion or an illegal instruction. Likewise.
  bool crashed() const;
  /// The kernel was not launched: it asks for more than the device has.
  bool too_much() const;

 private:
  int result_;
};

/// How a kernel is launched.
struct DriverLaunch {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  uint32_t shared_bytes = 0;  ///< dynamic
};

/// One kernel of a cubin, loaded. Copies are the same kernel.
struct DriverKernel {
  void* function = nullptr;
};

/// The name of an allocation for other processes on the same device: what cuIpcGetMemHandle()
/// gives.
using PeerHandle = std::array<uint8_t, 64>;

/// The compute capability of the device with that UUID (VkPhysicalDeviceIDProperties), by NVML
/// (libnvidia-ml.so.1) or else the CUDA driver (libcuda.so.1), which makes no context. Throws
/// kUnsupported, saying why, when neither knows it.
ComputeCapability device_capability(const std::array<uint8_t, 16>& uuid);

/// A device's primary context, made current on the thread that opens it; only that thread may use
/// it. It has no device heap, no printf buffer and no reserved cache. What it loads stays until the
/// process ends: a runner has one candidate.
class Driver {
 public:
  /// `uuid` as Vulkan names the device (VkPhysicalDeviceIDProperties). Throws kUnsupported, saying
  /// why, where there is no such library or it does not know the device.
  explicit Driver(const std::array<uint8_t, 16>& uuid,
                  const std::vector<std::string>& libraries = {"libcuda.so.1"});
  ~Driver();
  Driver(const Driver&) = delete;

  /// The address of memory that Vulkan exported, for one buffer alone: all of it, `bytes` being the
  /// allocation's.
  uint64_t import(UniqueFd descriptor, uint64_t bytes);
  /// Gives back all that was imported.
  void release_imports();
  /// The address of another process's allocation, and its size in bytes. That process need not run
  /// meanwhile, nor live on. Throws DriverError where the handle is none.
  std::pair<uint64_t, uint64_t> open_peer(const PeerHandle& handle);
  void close_peer(uint64_t address);
  /// Throws DriverError for what is no cubin of this device's or has no such entry.
  DriverKernel load(std::span<const std::byte> cubin, const std::string& entry);
  /// Lets the kernel be launched so. Empty, or why the device cannot, as the end of a sentence that
  /// begins with the kernel's name.
  std::string allow(const DriverKernel& kernel, const DriverLaunch& launch);

  /// Marks the context as hung: nothing is called on it any more, not even to free.
  bool hung() const;

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace kbench::cuda
