// What Driver and DriverList share.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure/cuda/driver.h"
#include "harness/measure/cuda/driver_calls.h"

namespace kbench::cuda {

struct Driver::State {
  Library library;
  driver::Calls calls;
  uint64_t shared_bytes = 0;  ///< the most of a block, static and dynamic, once opted in
  driver::Device device = 0;
  driver::Stream stream = nullptr;
  driver::Pointer lead = 0;  ///< what is written to keep the device busy
  /// Memory of others, mapped.
  struct Import {
    driver::Pointer address = 0;
    driver::ExternalMemory external = nullptr;
  };
  std::vector<Import> imports;
  bool hung = false;  ///< or dead of a fault

  explicit State(const std::vector<std::string>& names) : library(names) {}
  /// Finds the functions and calls cuInit. Throws kUnsupported, saying why it cannot.
  void load();
  /// Throws DriverError unless it is success. `call` is the function's name.
  void check(driver::Result result, const char* call);
  /// Throws kUnsupported where there is no such device.
  driver::Device find(const std::array<uint8_t, 16>& uuid) const;
  void open();  ///< `device`
};

/// Bytes of Driver::State::lead: more than any cache, so that writing them takes long enough.
inline constexpr uint64_t kLeadBytes = uint64_t{64} << 20;

}  // namespace kbench::cuda
