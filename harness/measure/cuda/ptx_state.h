// Variables of a module that outlive a launch, and whether a kernel can write to them.
#pragma once

#include <optional>
#include <string>

#include "harness/measure/cuda/ptx.h"

namespace kbench::cuda {

struct KeptState {
  std::string variable;
  int line = 0;     ///< of the instruction
  std::string why;  ///< what it does with the address
};

/// The first instruction by which a kernel might write to a .global or .const variable of the
/// module. Tables that are read are none. A variable's address may be loaded from, with an offset
/// that has nothing to do with the address itself; it may be moved and chosen from register to
/// register. Any other use of it is refused, so that no other value, condition or branch depends on
/// it and the address cannot be computed anew from such. An address that a kernel guesses cannot be
/// found by reading the text.
std::optional<KeptState> kept_state(const PtxModule& module);

// Addresses that a kernel computes from numbers alone.

struct NumericAddress {
  std::string name;  ///< of the register
  int line = 0;      ///< of the instruction
};

/// The first access to device memory by a register whose value depends on no parameter, no variable
/// and nothing read from memory. A kernel that mixes a parameter in and out again is not found.
std::optional<NumericAddress> numeric_address(const PtxModule& module);

}  // namespace kbench::cuda
