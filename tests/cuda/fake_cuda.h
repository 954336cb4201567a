// What a test tells and asks the library that behaves as CUDA's driver does (fake_cuda.cc): the
// struct that its one function of its own, fake_cuda(), returns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kbench::testing_support {

struct FakeLaunch {
  std::string kernel;
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t shared_bytes = 0;
  bool operator==(const FakeLaunch&) const = default;
};

struct FakeCuda {
  // the device
  std::array<uint8_t, 16> uuid{};
  int shared_bytes = 232448;
  /// The call of that name gives this, every time.
  std::string fail_call;
  int fail_with = 0;

  // what became of it
  std::vector<std::string> calls;    ///< names of those that put something into the stream
  std::vector<FakeLaunch> launches;  ///< as they ran
  std::vector<int> closed;           ///< descriptors that imports took
  int dynamic_shared = 49152;
  std::map<uint64_t, size_t> peers;  ///< allocations of other processes that are open: bytes
  size_t leads = 0;                  ///< writes to memory that the driver allocated
  int slow_leads = 0;                ///< so many of them take 2 ms from now on
};

using FakeCudaCall = FakeCuda* (*)();

}  // namespace kbench::testing_support
