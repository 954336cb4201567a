// Device memory made by CUDA's driver (libcuda.so.1) for Vulkan and other processes to import.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/measure/cuda/driver.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::cuda {

/// Its memory lies in pages of 2 MiB, which CUDA maps in 0.1 ms a gigabyte. docs/throughput.md says
/// what was measured of it beside Vulkan's. Opens no context. Thread-safe, as the driver is.
class MemoryMaker {
 public:
  /// `uuid` as Vulkan names the device. Throws kUnsupported, saying why, where there is no such
  /// library or it does not know the device.
  explicit MemoryMaker(const std::array<uint8_t, 16>& uuid,
                       const std::vector<std::string>& libraries = {"libcuda.so.1"});
  ~MemoryMaker();
  MemoryMaker(const MemoryMaker&) = delete;

  /// `bytes`: a multiple of 2 MiB. The memory is freed once this descriptor, its copies and what
  /// was imported from them are gone. Throws DriverError.
  UniqueFd make(uint64_t bytes);

 private:
  std::unique_ptr<Driver::State> state_;
};

}  // namespace kbench::cuda
