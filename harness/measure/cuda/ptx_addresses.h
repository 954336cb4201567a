// Addresses that a kernel makes up.
#pragma once

#include <optional>
#include <string>

#include "harness/measure/cuda/ptx.h"

namespace kbench::cuda {

struct NumericAddress {
  std::string name;  ///< of the register
  int line = 0;      ///< of the instruction
};

/// The first access to device memory by a register on whose value no parameter, no variable and
/// nothing that was read from memory has any bearing. It finds numbers that are moved about and
/// computed with; a kernel that mixes a parameter in and takes it out again is not found.
std::optional<NumericAddress> numeric_address(const PtxModule& module);

}  // namespace kbench::cuda
