// A device through CUDA's own driver (libcuda.so.1), opened at run time: kernels launched with what
// a Vulkan command list cannot ask for, on memory that Vulkan allocated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kbench/error.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::cuda {

/// What the driver answered in place of doing what it was asked. The code is kOutOfMemory for want
/// of memory, kTimeout for a launch that it ended, kInternal for all else.
class DriverError : public Error {
 public:
  DriverError(int result, const std::string& message);
  int result() const { return result_; }
  /// The kernel did what the device does not let it (an address that is not its own); nothing more
  /// can be done with the context.
  bool faulted() const;
  /// It ended otherwise than by its end: a trap, an assertion, an illegal instruction. Likewise.
  bool crashed() const;
  /// It was not launched: it asks for more than the device has.
  bool too_much() const;

 private:
  int result_;
};

/// What a device gives a kernel.
struct DriverLimits {
  uint64_t shared_bytes = 0;  ///< of a block, static and dynamic, once opted in
  uint32_t multiprocessors = 0;
  bool cooperative = false, clusters = false;
};

/// How a kernel is launched.
struct DriverLaunch {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  std::array<uint32_t, 3> cluster = {0, 0, 0};  ///< 0: what the kernel itself says, or none
  bool cooperative = false;
  uint32_t shared_bytes = 0;  ///< dynamic
};

/// One kernel of a cubin, loaded. Copies are the same kernel.
struct DriverKernel {
  void* function = nullptr;
};

/// A device's primary context, made current on the thread that opens it, which alone may use it. No
/// heap, no printf and no share of the cache is set aside in it. What it loads and imports stays
/// until the process ends: a candidate's runner has one candidate.
class Driver {
 public:
  /// `uuid` as Vulkan names the device (VkPhysicalDeviceIDProperties). Throws kUnsupported, saying
  /// why, where there is no such library or it does not know the device.
  explicit Driver(const std::array<uint8_t, 16>& uuid,
                  const std::vector<std::string>& libraries = {"libcuda.so.1"});
  ~Driver();
  Driver(const Driver&) = delete;

  const DriverLimits& limits() const;

  /// The address of memory that Vulkan exported, for one buffer alone: all of it, `bytes` being the
  /// allocation's.
  uint64_t import(UniqueFd descriptor, uint64_t bytes);
  /// Throws DriverError for what is no cubin of this device's or has no such entry.
  DriverKernel load(std::span<const std::byte> cubin, const std::string& entry);
  /// Lets the kernel be launched so. Empty, or why the device cannot, as the end of a sentence that
  /// begins with the kernel's name.
  std::string allow(const DriverKernel& kernel, const DriverLaunch& launch);

  /// A run hangs: nothing may be asked of the context again, not even to take anything back.
  bool hung() const;

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace kbench::cuda
