// The rules on what a CUDA kernel may do, checked on its PTX, which holds all that a kernel does,
// inline assembly included. The counterpart of the list of SPIR-V capabilities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/measure/cuda/ptx.h"

namespace kbench::cuda {

/// Static and dynamic shared memory of a block together, launched beside shaders. From 48 KiB on a
/// kernel launched through VK_NVX_binary_import loses the device: there is no way to opt in, and
/// the system takes 1 KiB.
inline constexpr uint64_t kSharedBytesBesideShaders = 47 << 10;
/// The most that any device gives a block, opted in by CUDA's driver (sm_90, sm_100: 227 KiB).
inline constexpr uint64_t kMostSharedBytes = 227 << 10;
/// Of that, the most that a kernel may declare itself.
inline constexpr uint64_t kMostStaticSharedBytes = 48 << 10;
/// Threads of a block, and of its axes; of the grid's axes. The same on every device there is.
inline constexpr uint32_t kMostThreads = 1024;
inline constexpr uint32_t kMostBlock[3] = {1024, 1024, 64};
inline constexpr uint32_t kMostGrid[3] = {2147483647, 65535, 65535};

/// Why a module is not launched.
struct PtxViolation {
  bool unsupported = false;  ///< this way of launching cannot do it; else no candidate may
  int line = 0;              ///< of the PTX text
  std::string message;       ///< what it does: continues "kernel k "
};

/// What a module does that only CUDA's driver can launch, and no command list of Vulkan. Each is
/// empty, or the first such thing, as the end of a sentence that begins with "kernel k ".
struct PtxNeeds {
  std::string cluster;       ///< blocks that reach each other's shared memory
  std::string grid_barrier;  ///< only of a cooperative grid
  std::string trap;          ///< which a command list would not report
  /// One of them, or empty.
  const std::string& any() const;
};

/// Instructions, special registers and directives are on lists: what is on none is refused by its
/// name. Refused are clocks, calls of what is not in the module (printf, malloc, assert, launches),
/// calls through pointers, textures, system scope, variables that keep what a kernel wrote,
/// addresses written as numbers. `needs` is filled in.
std::optional<PtxViolation> check_ptx(const PtxModule& module, PtxNeeds& needs);

/// Static shared memory of a kernel: its own, the module's, and that of every function.
uint64_t static_shared_bytes(const PtxModule& module, const PtxFunction& entry);

/// True when it computes in float16 or bfloat16.
bool uses_float16(const PtxModule& module);

}  // namespace kbench::cuda
