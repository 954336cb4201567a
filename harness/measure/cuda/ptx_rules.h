// The rules on what a CUDA kernel may do, checked on its PTX, which holds all that a kernel does,
// inline assembly included. The counterpart of the list of SPIR-V capabilities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/measure/cuda/ptx.h"

namespace kbench::cuda {

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
  bool unsupported = false;  ///< kbench cannot launch it; else no candidate may do it
  int line = 0;              ///< of the PTX text
  std::string message;       ///< what it does: continues "kernel k "
};

/// Instructions, special registers and directives are on lists: what is on none is refused by its
/// name. Refused are clocks, calls of what is not in the module (printf, malloc, assert, launches),
/// calls through pointers, textures, system scope, barriers across the grid, variables that keep
/// what a kernel wrote, addresses written as numbers.
std::optional<PtxViolation> check_ptx(const PtxModule& module);

/// Static shared memory of a kernel: its own, the module's, and that of every function.
uint64_t static_shared_bytes(const PtxModule& module, const PtxFunction& entry);

/// True when it computes in float16 or bfloat16.
bool uses_float16(const PtxModule& module);

// Which approximate functions PTX computes with.

/// "tanh.approx.f32, ex2.approx.ftz.f32": instructions of the special function unit and short
/// divisions, in the order of the text, each once; empty where there are none. Ordinary float32
/// functions are made of some as well (expf of ex2.approx, rsqrtf of rsqrt.approx): those count
/// only where the module flushes small numbers to zero in its ordinary arithmetic, as
/// --use_fast_math has it.
std::string approximate_functions(const PtxModule& module);

}  // namespace kbench::cuda
