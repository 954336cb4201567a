// Addresses that a kernel computes from numbers alone.
#pragma once

#include <optional>
#include <string>

#include "harness/measure/cuda/ptx.h"

namespace kbench::cuda {

struct NumericAddress {
  std::string name;  ///< of the register
  int line = 0;      ///< of the instruction
};

/// The first access to device memory by a register whose value depends on no parameter, no variable
/// and nothing read from memory. A kernel that mixes a parameter in and out again is not found.
std::optional<NumericAddress> numeric_address(const PtxModule& module);

}  // namespace kbench::cuda
