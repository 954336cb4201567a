// Device memory made by CUDA's driver (libcuda.so.1) for Vulkan and other processes to import.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kbench/error.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::cuda {

/// Why CUDA makes it: kernels launched by CUDA read memory that Vulkan made at half of the speed,
/// while memory that CUDA made is as fast in both. Opens no context, unless the driver asks for
/// one. Thread-safe.
class MemoryMaker {
 public:
  /// Opens the library. Throws kUnsupported, saying why, where there is none that works.
  explicit MemoryMaker(const std::vector<std::string>& libraries = {"libcuda.so.1"});
  ~MemoryMaker();
  MemoryMaker(const MemoryMaker&) = delete;

  /// Of which device; call once, first. `uuid` as Vulkan names it. Throws kUnsupported where CUDA
  /// does not know the device.
  void choose(const std::array<uint8_t, 16>& uuid);
  /// `bytes`: a multiple of 2 MiB. The memory is freed once this descriptor, its copies and what
  /// was imported from them are gone. Throws kOutOfMemory, kInternal.
  UniqueFd make(uint64_t bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kbench::cuda
